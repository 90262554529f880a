"""The only module that imports MLIR's Python bindings, which jaxlib contains as `jaxlib.mlir`.

Facts about these bindings on which the package relies:

* `hash(operation)` is computed from the operation's contents and changes with every edit, and
  each access makes another Python object: `address` is the only stable identity.
* Only the Python object on which `erase` is called learns that the operation is gone; every
  other object of it, and its values, point into freed memory.
* An attribute of complex elements cannot be turned into a Python object (TypeError).
* A detached operation that outlives the module of its operands corrupts the heap.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from typing import Any

from dialect_utils.text import DiagnosticError

_SUPPORTED = "0.10 to 0.12"
_ANCHOR = "builtin.module("


def _missing(error: Exception) -> DiagnosticError:
    try:
        from jaxlib.version import __version__ as version
    except ImportError:
        return DiagnosticError("jaxlib is not installed", hint=f"install jaxlib {_SUPPORTED}")
    if "failed to map" in str(error) or "cannot allocate" in str(error):
        return DiagnosticError(f"jaxlib {version} cannot be loaded: not enough memory")
    message = f"jaxlib {version} lacks a name of MLIR's bindings: {error}"
    return DiagnosticError(message, hint=f"install jaxlib {_SUPPORTED}")


try:
    from jaxlib.mlir import ir as ir

    # The extensions alone: MLIR itself loads jaxlib.mlir.dialects, which have a class for each operation, on demand.
    from jaxlib.mlir._mlir_libs import _chlo, _jax_mlir_ext as _upstream, _mlirHlo, _stablehlo as stablehlo

    # jaxlib 0.12 imports this module while its library is half loaded, unless it comes first; JAX needs all of it.
    from jaxlib.mlir.dialects import sdy as _sdy

    _REGISTER = (
        stablehlo.register_dialect,
        stablehlo.register_interpreter_dialect,
        _chlo.register_dialect,
        _mlirHlo.register_mhlo_dialect,
        _sdy.register_dialect,
    )
    _register_upstream = _upstream.register_dialects
    serialize_portable_artifact = stablehlo.serialize_portable_artifact
    deserialize_portable_artifact = stablehlo.deserialize_portable_artifact
    current_version = stablehlo.get_current_version
    _register_passes = stablehlo.register_stablehlo_passes, _mlirHlo.register_mhlo_passes
    _DIMENSION_NUMBERS: dict[str, Any] = {
        "dimension_numbers": stablehlo.GatherDimensionNumbers,
        "dot_dimension_numbers": stablehlo.DotDimensionNumbers,
        "scatter_dimension_numbers": stablehlo.ScatterDimensionNumbers,
    }
except (ImportError, AttributeError) as _error:
    raise _missing(_error) from _error

# The fields of the structured attributes in the order of their constructors.
_FIELDS = {
    "dimension_numbers": (
        "offset_dims",
        "collapsed_slice_dims",
        "operand_batching_dims",
        "start_indices_batching_dims",
        "start_index_map",
        "index_vector_dim",
    ),
    "dot_dimension_numbers": (
        "lhs_batching_dimensions",
        "rhs_batching_dimensions",
        "lhs_contracting_dimensions",
        "rhs_contracting_dimensions",
    ),
    "scatter_dimension_numbers": (
        "update_window_dims",
        "inserted_window_dims",
        "input_batching_dims",
        "scatter_indices_batching_dims",
        "scattered_dims_to_operand_dims",
        "index_vector_dim",
    ),
}


def string_value(attribute: ir.StringAttr) -> str:
    """Returns the text of a string; bytes that are not UTF-8 (serialized shardings) become escapes."""
    return attribute.value_bytes.decode(errors="backslashreplace")


def operation_names() -> list[str]:
    """Returns the names of StableHLO's operations, which only an error about an unknown one needs."""
    from jaxlib.mlir.dialects import _stablehlo_ops_gen

    found = (getattr(each, "OPERATION_NAME", None) for each in vars(_stablehlo_ops_gen).values())
    return [name for name in found if name is not None]


@lru_cache(maxsize=1)
def context() -> ir.Context:
    """Returns the process's context, with every dialect of jaxlib.

    It keeps attributes, types and operations (in generic form) of unknown dialects as they are.
    """
    made = _new_context()
    for register in (*_REGISTER, *_optional_dialects()):
        register(made)
    # Dialects on which others depend, such as affine, are not read before they are loaded.
    made.load_all_available_dialects()
    made.allow_unregistered_dialects = True
    return made


@cache
def is_known_operation(name: str) -> bool:
    """Is true for an operation of a dialect of jaxlib."""
    return bool(context().is_registered_operation(name))


@cache
def is_known_dialect(name: str) -> bool:
    """Is true for a dialect of jaxlib."""
    try:
        return context().get_dialect_descriptor(name) is not None
    except ValueError:
        return False


def _new_context() -> ir.Context:
    made = ir.Context()
    # Threads would not survive a fork, and modules of this size gain nothing from them.
    made.enable_multithreading(False)
    registry = ir.DialectRegistry()
    _register_upstream(registry)
    made.append_dialect_registry(registry)
    return made


@lru_cache(maxsize=1)
def kernel_context() -> ir.Context:
    """Returns a context with the TPU dialect of Mosaic kernels."""
    try:
        from jaxlib.mlir._mlir_libs import _tpu_ext
    except ImportError as error:
        raise _missing(error) from error
    made = _new_context()
    _tpu_ext.register_dialect(made)
    # A dialect that is not loaded when bytecode is read prints its ops in the generic form.
    made.load_all_available_dialects()
    made.allow_unregistered_dialects = True
    return made


def deserialize_kernel(module: ir.Module) -> None:
    """Converts a kernel in JAX's stable form (`stable_mosaic`) to plain operations, in place.

    Registering the TPU dialect registers the pass, too. Raises MLIRError for a version that this jaxlib lacks.
    """
    _run(module, "builtin.module(mosaic-serde{serialize=false})")


def run_passes_on_text(text: str, pipeline: str) -> str:
    """Returns the text of a module after passes; raises MLIRError, and ValueError for a pass that jaxlib lacks."""
    module = ir.Module.parse(text, context())
    run_passes(module, pipeline)
    return str(module)


def run_passes(module: ir.Module, pipeline: str) -> None:
    """Runs passes of StableHLO and MHLO on a module, in place; raises MLIRError where one fails.

    Passes outside of `builtin.module(...)` run on the module, or if they cannot on each function.
    """
    for register in _register_passes:
        register()
    _run(module, pipeline)


def _run(module: ir.Module, pipeline: str) -> None:
    from jaxlib.mlir.passmanager import PassManager

    def manager(text: str) -> PassManager:
        return PassManager.parse(text, module.context)

    if pipeline.startswith(_ANCHOR):
        manager(pipeline).run(module.operation)
        return
    try:
        found = manager(f"{_ANCHOR}{pipeline})")
    except ValueError:
        found = manager(f"{_ANCHOR}func.func({pipeline}))")
    found.run(module.operation)


def _optional_dialects() -> list[Callable[[ir.Context], None]]:
    try:
        from jaxlib.mlir._mlir_libs import _sdyMpmd as mpmd
    except ImportError:
        return []
    return [mpmd.register_dialect]


_capsule_name = ctypes.pythonapi.PyCapsule_GetName
_capsule_name.restype = ctypes.c_char_p
_capsule_name.argtypes = [ctypes.py_object]
_capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_capsule_pointer.restype = ctypes.c_void_p
_capsule_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]


def address(operation: ir.Operation) -> int:
    """Returns the address of the C++ operation, its identity until it is erased."""
    capsule = operation._CAPIPtr  # noqa: SLF001  # the public name that MLIR gives its C handle
    return int(_capsule_pointer(capsule, _capsule_name(capsule)))


def attribute_of(operation: ir.Operation, name: str) -> ir.Attribute | None:
    """Returns an attribute, or None where it is absent or has no Python form."""
    try:
        return operation.attributes.get(name)
    except TypeError:
        return None


def integer_list(attribute: ir.Attribute) -> tuple[int, ...] | None:
    """Returns the integers of an attribute, a tuple of one for a single integer, or None for another kind."""
    if isinstance(attribute, ir.IntegerAttr):
        return (int(attribute.value),)
    if isinstance(attribute, ir.DenseI64ArrayAttr | ir.DenseIntElementsAttr):
        return tuple(attribute[i] for i in range(len(attribute)))
    return None


def with_integers(attribute: ir.Attribute, values: Sequence[int]) -> ir.Attribute | None:
    """Returns an attribute of the same kind with other integers, or None where `integer_list` returns None."""
    if isinstance(attribute, ir.IntegerAttr):
        (value,) = values
        return ir.IntegerAttr.get(attribute.type, value)
    if isinstance(attribute, ir.DenseI64ArrayAttr):
        return ir.DenseI64ArrayAttr.get(list(values), attribute.context)
    if isinstance(attribute, ir.DenseIntElementsAttr):
        element_type = ir.ShapedType(attribute.type).element_type
        text = f"dense<{list(values)}> : tensor<{len(values)}x{element_type}>"
        return ir.Attribute.parse(text, attribute.context)
    return None


def dimension_numbers(name: str, attribute: ir.Attribute, field: str) -> tuple[int, ...] | None:
    """Returns a field of a structured attribute as integers, or None for MHLO's."""
    kind = _DIMENSION_NUMBERS[name]
    if not kind.isinstance(attribute):
        return None
    found = getattr(kind(attribute), field)
    return (found,) if isinstance(found, int) else tuple(found)


def with_dimension_numbers(
    name: str, attribute: ir.Attribute, field: str, values: Sequence[int]
) -> ir.Attribute | None:
    """Returns a structured attribute with other integers in one field, or None for MHLO's."""
    kind = _DIMENSION_NUMBERS[name]
    if not kind.isinstance(attribute):
        return None
    known = kind(attribute)
    fields = {each: getattr(known, each) for each in _FIELDS[name]}
    fields[field] = values[0] if isinstance(fields[field], int) else list(values)
    found: ir.Attribute = kind.get(*fields.values(), context=attribute.context)
    return found
