"""The engines in the worker process: XLA:CPU, StableHLO's interpreter and the reference evaluator.

Only the worker imports this module. `PREPARE` in dialect_utils/execution/serve.py lists the engines.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from dialect_utils.execution import adapter
from dialect_utils.execution.arrays import Array, bits_type, from_bits, is_numpy_type, to_plain
from dialect_utils.layout import ArrayShape, ElementType
from dialect_utils.layout.arrays.dtypes import dtype_of
from dialect_utils.stablehlo import parse_module
from dialect_utils.stablehlo.bindings import context, ir
from dialect_utils.stablehlo.origins import walk
from dialect_utils.stablehlo.rewrites import editing
from dialect_utils.stablehlo.types import shape_of_type
from dialect_utils.text import Diagnostic

if TYPE_CHECKING:
    from dialect_utils.ir import Dialect, Module

Run = Callable[[Sequence[Array]], list[tuple[ElementType, Array]]]

_BYTE = 8
# The number of cached executables, and the length of the longest program that is cached.
_MOST_KEPT, _MOST_KEPT_CHARACTERS = 8, 1 << 16


class UnsupportedError(Exception):
    """A module or a shape that an engine does not support."""


def prepare_xla(program: str | bytes, options: dict[str, Any], devices: int = 1) -> Run:
    """Compiles StableHLO text or bytecode and returns the function that runs it on arrays.

    On several devices the leading dimension of arguments and results counts the devices.
    """
    if len(program) > _MOST_KEPT_CHARACTERS:
        return _compiled(program, tuple(options.items()), devices)
    return _kept(program, tuple(options.items()), devices)


def _compiled(program: str | bytes, options: tuple[tuple[str, Any], ...], devices: int) -> Run:
    executable = adapter.compile_module(adapter.cpu_client(devices), program, dict(options), devices)
    _, results = signature(program)
    return run_on_xla(executable, [shape.element_type for shape in results], devices)


# A reduction or a search for roundings repeats a program among others, so the latest executables are cached.
_kept = lru_cache(maxsize=_MOST_KEPT)(_compiled)


def run_on_xla(executable: Any, types: Sequence[ElementType], devices: int) -> Run:
    """Returns the function that runs an executable of XLA on arrays; `types` are those of its results."""
    client = adapter.cpu_client(devices)

    def run(arguments: Sequence[Array]) -> list[tuple[ElementType, Array]]:
        if devices > 1:
            arrays = [np.stack(parts) for parts in adapter.execute_on_devices(executable, client, arguments, devices)]
        else:
            outputs = executable.execute([adapter.device_array(array) for array in arguments])
            # The outputs are views of XLA's buffers.
            arrays = [np.array(adapter.host_array(output)) for output in outputs]
        return list(zip(types, arrays, strict=True))

    return run


def signature(program: str | bytes) -> tuple[list[ArrayShape], list[ArrayShape]]:
    """Returns the shapes of main's arguments and results; raises UnsupportedError for tokens and dynamic shapes."""
    with context():
        # A function does not keep its module alive in these bindings.
        module = ir.Module.parse(program)
        return _signature(editing.main_function(module))


def _signature(main: Any) -> tuple[list[ArrayShape], list[ArrayShape]]:
    kind = main.type
    return [_array_shape(t) for t in kind.inputs], [_array_shape(t) for t in kind.results]


def _array_shape(mlir_type: Any) -> ArrayShape:
    shape = shape_of_type(mlir_type)
    if not isinstance(shape, ArrayShape) or not shape.is_static:
        raise UnsupportedError(f"main has an argument or result of type {mlir_type}")
    return shape


def prepare_interpreter(program: str | bytes, _options: dict[str, Any], devices: int = 1) -> Run:
    """Returns the function that interprets StableHLO text or bytecode.

    numpy cannot read the interpreter's bf16, f8, 4-bit and complex results, so main returns the bits of such results
    as integers, and real and imaginary parts.
    """
    if devices > 1:
        raise UnsupportedError("the interpreter runs modules on one device only")
    with context():
        module = ir.Module.parse(program)
        # The interpreter supports neither CHLO nor the legacy forms of XLA's importer.
        editing.legalize(module)
        # The interpreter does not support HLO's copies.
        for copy in _named(module, "mhlo.copy"):
            copy.results[0].replace_all_uses_with(copy.operands[0])
            copy.erase()
        _order_totally(module)
        main = editing.main_function(module)
        types = [ir.Type.parse(str(t)) for t in main.type.inputs]
        parameters, results = _signature(main)
        _return_plain(main, results)
        module.operation.verify()

    def run(arguments: Sequence[Array]) -> list[tuple[ElementType, Array]]:
        with context():
            attributes = [
                _attribute(array, shape.element_type, kind)
                for array, shape, kind in zip(arguments, parameters, types, strict=True)
            ]
            outputs = [np.array(output) for output in adapter.interpret(module, attributes)]
        return _collect(outputs, results)

    return run


def _order_totally(module: Any) -> None:
    """Rewrites comparisons in the total order of floats, which the interpreter ignores, as comparisons of integers."""
    for compare in _named(module, editing.COMPARE):
        written = compare.attributes
        if "compare_type" not in written or "TOTALORDER" not in str(written["compare_type"]):
            continue
        with ir.InsertionPoint(compare), ir.Location.unknown():
            for number, value in enumerate(compare.operands):
                compare.operands[number] = editing.total_order_rank(value)
        written["compare_type"] = editing.comparison_type("SIGNED")


def _named(module: Any, name: str) -> list[Any]:
    return [each for each in walk(module.operation) if each.name == name]


def _attribute(array: Array, kind: ElementType, mlir_type: Any) -> Any:
    data: Any = to_plain(np.ascontiguousarray(array).reshape(array.shape), kind)
    return ir.DenseElementsAttr.get(data, type=mlir_type)


def _return_plain(main: Any, results: Sequence[ArrayShape]) -> None:
    """Makes main return every result as values of real types that numpy has."""
    block = main.regions[0].blocks[0]
    with ir.InsertionPoint.at_block_terminator(block), ir.Location.unknown():
        plain = [
            value
            for operand, shape in zip(editing.returned_values(main), results, strict=True)
            for value in _plain_values(operand, shape.element_type)
        ]
        editing.set_main_results(main, plain)


def _plain_values(value: Any, kind: ElementType) -> list[Any]:
    if kind.is_complex:
        return [_unary(f"stablehlo.{name}", value, kind.part.name) for name in ("real", "imag")]
    if is_numpy_type(kind):
        return [value]
    if not kind.is_integral:
        value = _unary("stablehlo.bitcast_convert", value, f"ui{kind.bits}")
    if kind.bits < _BYTE:
        value = _unary("stablehlo.convert", value, "i8" if kind.is_signed else "ui8")
    return [value]


def _unary(name: str, value: Any, element: str) -> Any:
    return editing.make(name, [value], ir.RankedTensorType.get(value.type.shape, ir.Type.parse(element)))


def _collect(outputs: list[Array], results: Sequence[ArrayShape]) -> list[tuple[ElementType, Array]]:
    """Joins the parts of complex results and restores the types of other ones."""
    rest = iter(outputs)
    collected = []
    for shape in results:
        kind = shape.element_type
        output = next(rest)
        if kind.is_complex:
            whole = np.empty(shape.dimensions, dtype_of(kind))
            whole.real, whole.imag = output, next(rest)
            output = whole
        elif not is_numpy_type(kind):
            integral = kind.is_integral
            output = output.astype(dtype_of(kind)) if integral else from_bits(output.astype(bits_type(kind)), kind)
        collected.append((kind, output.reshape(shape.dimensions)))
    return collected


def prepare_reference(program: str | bytes, dialect: Dialect, *, flushes: bool = False) -> tuple[Run, list[ArrayShape]]:
    """Returns the function that evaluates a program, unchanged, by definition, and main's parameters.

    `flushes`: arithmetic counts subnormal numbers as zeros.
    """
    # Imported here: no other engine needs the readers and the definitions.
    from dialect_utils import hlo
    from dialect_utils.execution.reference import UnsupportedOperationError, evaluate
    from dialect_utils.execution.run import entry_arrays

    if dialect == "hlo":
        module: Module = hlo.parse_module(program.decode() if isinstance(program, bytes) else program, "<module>")
    else:
        module = parse_module(program, "<module>")
    parameters, results = entry_arrays(module)

    def run(arguments: Sequence[Array]) -> list[tuple[ElementType, Array]]:
        try:
            found = evaluate(module, arguments, flushes=flushes)
        except UnsupportedOperationError as error:
            raise UnsupportedError(_placed(error.diagnostics[0])) from error
        return [(shape.element_type, np.array(each, order="C")) for shape, each in zip(results, found, strict=True)]

    return run, [shape.without_layout for shape in parameters]


def _placed(diagnostic: Diagnostic) -> str:
    """Returns a message with its line and column, as MLIR writes it."""
    if diagnostic.location is None:
        return diagnostic.message
    line, column = diagnostic.location.source.line_and_column(diagnostic.location.span.start)
    return f"-:{line}:{column}: error: {diagnostic.message}"
