"""What an operation's attributes say about its value, in the same words for both text forms."""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence

from dialect_utils.elementwise import ELEMENTWISE
from dialect_utils.hlo.calls import called_names, is_calling
from dialect_utils.hlo.tokens import without_comments
from dialect_utils.ir import Function, Operation
from dialect_utils.layout import OpaqueShape
from dialect_utils.stablehlo.opcodes import CALL_ATTRIBUTES
from dialect_utils.verdict.proof.terms import GaveUpError

# They say where a value lies, on which device, where it comes from or when it is computed.
_SILENT = frozenset(
    {"metadata", "frontend_attributes", "mhlo.frontend_attributes", "xla_shape", "result_layout", "origin"}
    | {"control-predecessors", "statistics", "sharding", "mhlo.sharding", "sdy.sharding", "backend_config"}
)
# For a custom call they may say what is computed.
_SPOKEN_IN_CUSTOM_CALLS = frozenset({"sharding", "mhlo.sharding", "sdy.sharding", "backend_config"})

# By opcode: HLO's names of integer lists that `Operation.ints` reads in both forms, and StableHLO's own
# names of the attributes they stand in.
_INTEGERS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "broadcast": (("dimensions",), ("broadcast_dimensions",)),
    "concatenate": (("dimensions",), ("dimension",)),
    "dot": (
        ("lhs_batch_dims", "rhs_batch_dims", "lhs_contracting_dims", "rhs_contracting_dims"),
        ("dot_dimension_numbers",),
    ),
    "dynamic-slice": (("dynamic_slice_sizes",), ("slice_sizes",)),
    "gather": (
        (
            *("offset_dims", "collapsed_slice_dims", "operand_batching_dims", "start_indices_batching_dims"),
            *("start_index_map", "index_vector_dim", "slice_sizes"),
        ),
        ("dimension_numbers",),
    ),
    "iota": (("iota_dimension",), ()),
    "reduce": (("dimensions",), ()),
    "reduce-precision": (("exponent_bits", "mantissa_bits"), ()),
    "reverse": (("dimensions",), ()),
    "scatter": (
        (
            *("update_window_dims", "inserted_window_dims", "input_batching_dims", "scatter_indices_batching_dims"),
            *("scatter_dims_to_operand_dims", "index_vector_dim"),
        ),
        ("scatter_dimension_numbers",),
    ),
    "sort": (("dimensions",), ("dimension",)),
}
# Absent means false.
_FLAGS = frozenset({"indices_are_sorted", "unique_indices", "is_stable"})
_PRECISIONS = frozenset({"operand_precision", "precision_config"})
_DIRECTIONS = frozenset({"direction", "comparison_direction"})
_COMPARE_TYPES = frozenset({"type", "compare_type"})
_WORD = re.compile(r"[A-Za-z0-9_]+")
_ELIDED = "..."
_RESOURCE = "dense_resource"
_TOTAL_ORDER = "TOTALORDER"

# Ops whose results depend on nothing but operands and attributes, and that do nothing else.
_PURE_NAMES = """
    all-gather all-reduce all-to-all batch-norm-grad batch-norm-inference batch-norm-training bitcast bitcast-convert
    broadcast cholesky collective-broadcast collective-permute concatenate constant convolution dot dynamic-reshape
    dynamic-slice dynamic-update-slice fft gather get-dimension-size iota map pad partition-id ragged-dot reduce
    reduce-scatter reduce-window replica-id reshape reverse rng-bit-generator scatter select-and-scatter
    set-dimension-size slice sort topk transpose triangular-solve chlo.top_k chlo.constant chlo.broadcast_add
    all-gather-start all-gather-done all-reduce-start all-reduce-done collective-permute-start
    collective-permute-done stablehlo.dynamic_broadcast_in_dim stablehlo.dynamic_conv stablehlo.dynamic_gather
    stablehlo.dynamic_iota stablehlo.dynamic_pad stablehlo.real_dynamic_slice stablehlo.torch_index_select
"""
_PURE = frozenset(_PURE_NAMES.split()) | ELEMENTWISE
# They depend on how many devices run the module, too.
_AMONG_DEVICES = re.compile(r"all-|collective-|reduce-scatter|partition-id|replica-id|ragged-all")
_SIDE_EFFECTS = ("custom_call_has_side_effect", "has_side_effect")

# HLO may name its computations in any order; the other form has this one.
_ROLES = {"condition": 0, "body": 1, "true_computation": 0, "false_computation": 1, "select": 0, "scatter": 1}


def is_pure(operation: Operation) -> bool:
    """Is true for an operation whose results depend on its operands alone; others are kept in their order."""
    if operation.opcode == "custom-call":
        return not any(operation.attribute(name) == "true" for name in _SIDE_EFFECTS)
    return operation.opcode in _PURE


def is_among_devices(operation: Operation) -> bool:
    """Is true for an operation whose results depend on the number of devices."""
    return _AMONG_DEVICES.match(operation.opcode) is not None


def ordered_calls(operation: Operation) -> Sequence[Function]:
    """Returns the functions an operation calls, by their role rather than by the order of the text."""
    names = [name for name, _ in called_names(operation.attributes) if name in _ROLES]
    called = list(operation.called)
    if len(names) != len(called):
        return called
    return [called[i] for i in sorted(range(len(called)), key=lambda i: _ROLES[names[i]])]


def key_of(operation: Operation) -> Hashable:
    """Returns all that an operation's attributes say about its value.

    Raises GaveUpError where they do not say it: elided constants, types without a name.
    """
    opcode, attributes = operation.opcode, operation.attributes
    names, replaced = _INTEGERS.get(opcode, ((), ()))
    found = {name: operation.ints(name) for name in names}
    # What cannot be read as integers counts as it is written.
    ignored = {*_SILENT, *(name for name in names if found[name] is not None)}
    if None not in found.values():
        ignored.update(replaced)
    if opcode == "custom-call":
        ignored -= _SPOKEN_IN_CUSTOM_CALLS
    said = tuple((name, found[name] or ()) for name in names)
    texts = sorted(
        normalized
        for name, text in attributes.items()
        if name not in ignored and not _is_call(name, operation)
        for normalized in _normalized(operation, name, text)
    )
    return opcode, said, tuple(texts), _contents(operation), _written_shapes(operation)


def _is_call(name: str, operation: Operation) -> bool:
    """Is true for an attribute that names functions, which count by what they do."""
    is_inlined = name in CALL_ATTRIBUTES and operation.opcode != "custom-call"
    return bool(operation.called) and (is_inlined or is_calling(name))


def _normalized(operation: Operation, name: str, text: str) -> list[tuple[str, str]]:
    is_compared = operation.opcode == "compare"
    if _RESOURCE in text:
        raise GaveUpError("what a resource holds is not in the text")
    if name in _FLAGS and text == "false":
        return []
    if name in _PRECISIONS:
        levels = [word for word in _words(text) if word not in ("STABLEHLO", "PRECISION")]
        return [("precision", " ".join(levels))] if {*levels} - {"DEFAULT"} else []
    if is_compared and name in _DIRECTIONS:
        return [("direction", _words(text)[-1])]
    if is_compared and name in _COMPARE_TYPES:
        # All but this one follow from the operands' type.
        return [("type", _TOTAL_ORDER)] if _words(text)[-1] == _TOTAL_ORDER else []
    return [(name, text if '"' in text else _without_space(text))]


def _words(text: str) -> list[str]:
    return [word.upper() for word in _WORD.findall(text)]


def _without_space(text: str) -> str:
    return "".join(without_comments(text).split())


def _contents(operation: Operation) -> Hashable:
    """Returns what an HLO constant holds between its parentheses; in StableHLO it is an attribute."""
    literal = getattr(operation, "literal", None)
    if operation.opcode == "constant" and not literal and not operation.attributes.get("value"):
        raise GaveUpError("a constant is written in a way that is not read")
    if not isinstance(literal, str):
        return None
    if _ELIDED in literal:
        raise GaveUpError("a constant has lost its values")
    return _without_space(literal)


def _written_shapes(operation: Operation) -> Hashable:
    """Returns what only the shapes' texts tell: the layouts of a bitcast."""
    values = [*operation.results, *operation.operands]
    if operation.opcode == "bitcast":
        return tuple(str(value.shape) for value in values)
    if any(isinstance(value.shape, OpaqueShape) for value in values):
        raise GaveUpError(f"{operation.opcode} has types that XLA has no name for")
    return None
