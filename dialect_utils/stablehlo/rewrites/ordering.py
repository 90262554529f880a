"""The ordered form of a module: its last argument fixes every order that sorts and reductions leave to the engine.

A comparator `a < b` of floats leaves the order of NaN open, an unstable sort that of equal keys, and a reduction that
of its elements. An engine's choice depends on its algorithm and may change with a layout. Here NaN is equal to NaN, and
larger or smaller than every number. main's last argument holds two ranks. The first one orders equal keys by their
position (1: ascending, -1: descending; reductions then begin at the other end). The second one orders keys before that
in the total order of floats (0: not at all), because -0 equals 0, and subnormals are equal for an engine that flushes
them. A stable sort keeps ascending positions. The module allows all of these orders, and other data give the same
results as before. XLA converts HLO to StableHLO first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from dialect_utils.ops import Trait, has, hlo_opcode
from dialect_utils.stablehlo.bindings import context, ir
from dialect_utils.stablehlo.origins import copy_operations, walk
from dialect_utils.stablehlo.rewrites.editing import (
    COMPARE,
    binary,
    compare,
    converted,
    inline_calls,
    main_function,
    make,
    redirect,
    set_signature,
    slice_from,
    splat,
    total_order_rank,
    uses_of,
)

_SORT, _REDUCE = "stablehlo.sort", "stablehlo.reduce"
# For a comparison with NaN as the larger or the smaller value: the operand that must be NaN, and the operand that must
# be a number, for the comparison to be true as well.
_NAN_IS_LARGER = {"LT": (1, 0), "GT": (0, 1), "LE": (1, None), "GE": (0, None)}
_NAN_IS_SMALLER = {"LT": (0, 1), "GT": (1, 0), "LE": (0, None), "GE": (1, None)}
_SIDES = [[0], [1]]


def order(program: str | bytes, *, nan_first: bool = False) -> tuple[str, int, int]:
    """Returns the ordered form of a StableHLO module; raises MLIR's errors.

    Also returns the number of operations with an open order, and of sorts that are not stable.
    """
    with context(), ir.Location.unknown():
        module = ir.Module.parse(program)
        inline_calls(module)
        main = main_function(module)
        block = main.regions[0].blocks[0]
        ranks = block.add_argument(ir.RankedTensorType.get([2], _integer()), ir.Location.unknown())
        left_open = of_equal_keys = 0
        for operation in _choosing(main):
            if operation.name == _SORT:
                left_open += _is_open(operation)
                of_equal_keys += not _is_stable(operation)
                _sort_by_ranks(operation, ranks, nan_first=nan_first)
            else:
                left_open += _compare_nan(operation, _NAN_IS_SMALLER if nan_first else _NAN_IS_LARGER, ranks)
        set_signature(main, "arg_attrs")
        module.operation.verify()
        return str(module), left_open, of_equal_keys


def _choosing(main: Any) -> list[Any]:
    """Returns the operations that apply a function to elements in an order of the engine's choice, inner ones first."""
    opcodes = [(each, hlo_opcode(each.name)) for each in walk(main.operation)]
    return [each for each, opcode in reversed(opcodes) if opcode == "sort" or has(opcode, Trait.COMBINES)]


def _is_open(sort: Any) -> bool:
    """Is true for a sort that is not stable, or whose comparator leaves the order of NaN open."""
    return not _is_stable(sort) or any(map(_leaves_nan_open, _comparisons(sort)))


def _is_stable(sort: Any) -> bool:
    return "is_stable" in sort.attributes and ir.BoolAttr(sort.attributes["is_stable"]).value


def _sort_by_ranks(sort: Any, ranks: Any, *, nan_first: bool) -> None:
    """Adds operands to a sort that decide, in order, between keys that its comparator holds equal."""
    block = sort.regions[0].blocks[0]
    arguments = list(block.arguments)
    keys = [value for i, value in enumerate(sort.operands) if any(list(arguments[2 * i + j].uses) for j in (0, 1))]
    floats = [value for value in keys if _is_float(value)]
    dimension = ir.IntegerAttr(sort.attributes["dimension"]).value
    with ir.InsertionPoint(sort):
        levels = [_is_nan(value, is_first=nan_first) for value in floats]
        positions = _positions(sort.operands[0].type, dimension)
        if not _is_stable(sort):
            levels += [_times(total_order_rank(value), _scalar(ranks, 1)) for value in floats]
            positions = _times(positions, _scalar(ranks, 0))
        levels.append(positions)
        operands = [*sort.operands, *levels]
        kinds = [value.type for value in operands]
        attributes = {"dimension": sort.attributes["dimension"], "is_stable": ir.BoolAttr.get(True)}
        made = ir.Operation.create(_SORT, results=kinds, operands=operands, attributes=attributes, regions=1)
    block.append_to(made.regions[0])
    _decide(made.regions[0].blocks[0], [ir.RankedTensorType.get([], value.type.element_type) for value in levels])
    for old, new in zip(sort.results, made.results, strict=False):
        old.replace_all_uses_with(new)
    sort.erase()


def _decide(block: Any, kinds: Sequence[Any]) -> None:
    """Makes a comparator use more arguments, of these types, where it gives equal answers for (a, b) and (b, a)."""
    *body, end = (each.operation for each in block.operations)
    arguments = list(block.arguments)
    swapped = dict(pair for a, b in zip(arguments[::2], arguments[1::2], strict=True) for pair in ((a, b), (b, a)))
    pairs = [[block.add_argument(kind, ir.Location.unknown()) for _ in range(2)] for kind in kinds]
    with ir.InsertionPoint(end):
        copy_operations(body, swapped)
        answer = end.operands[0]
        is_open = compare("EQ", answer, swapped.get(answer, answer), "UNSIGNED")
        tie = None
        for a, b in reversed(pairs):
            first = compare("LT", a, b, "SIGNED")
            tie = first if tie is None else binary("or", first, binary("and", compare("EQ", a, b, "SIGNED"), tie))
        end.operands[0] = make("stablehlo.select", [is_open, tie, answer], answer.type)


def _compare_nan(operation: Any, besides: dict[str, tuple[int, int | None]], ranks: Any) -> bool:
    """Makes the comparisons of an operation's function order NaN; is false where none leaves it open."""
    comparisons = [each for each in _comparisons(operation) if _leaves_nan_open(each)]
    if not comparisons:
        return False
    # An element that is compared with itself is a test for NaN.
    if not any(each.operands[0] == each.operands[1] for each, _ in _compared_sides(operation)):
        for comparison in comparisons:
            _compare_nan_as(comparison, besides)
    if operation.name == _REDUCE:
        _begin_at_either_end(operation, ranks)
    return True


def _begin_at_either_end(reduce: Any, ranks: Any) -> None:
    """Reverses the operands of a reduction where the rank of a later position is negative."""
    dimensions = reduce.attributes["dimensions"]
    with ir.InsertionPoint(reduce):
        rank = _scalar(ranks, 0)
        is_reversed = compare("LT", rank, splat(rank.type, 0), "SIGNED")
        for number, value in list(enumerate(reduce.operands))[: len(reduce.operands) // 2]:
            backwards = make("stablehlo.reverse", [value], value.type, {"dimensions": dimensions})
            reduce.operands[number] = make("stablehlo.select", [is_reversed, backwards, value], value.type)


def _comparisons(operation: Any) -> list[Any]:
    """Returns the comparisons of a value from one element with a value from the other."""
    return [each for each, of in _compared_sides(operation) if sorted(map(sorted, of)) == _SIDES]


def _compared_sides(operation: Any) -> Iterator[tuple[Any, list[frozenset[int]]]]:
    """Yields the comparisons that an operation applies, and the elements from which their operands are computed."""
    for block in (block for region in operation.regions for block in region):
        count = len(block.arguments)
        # A sort's arguments are pairs; others have all of one element, then all of the other.
        sides = [i % 2 if operation.name == _SORT else i * 2 // count for i in range(count)]
        behind = {value: frozenset({side}) for value, side in zip(block.arguments, sides, strict=True)}
        for inner in (each.operation for each in block.operations):
            of = [behind.get(value, frozenset()) for value in inner.operands]
            behind.update(dict.fromkeys(inner.results, frozenset[int]().union(*of)))
            if inner.name == COMPARE:
                yield inner, of


def _direction(comparison: Any) -> str:
    return str(comparison.attributes["comparison_direction"]).split()[-1].strip(">")


def _leaves_nan_open(comparison: Any) -> bool:
    """Is true for a comparison of floats by <, <=, > or >= that is not in the total order."""
    kind = str(comparison.attributes["compare_type"]) if "compare_type" in comparison.attributes else ""
    return _direction(comparison) in _NAN_IS_LARGER and _is_float(comparison.operands[0]) and "TOTALORDER" not in kind


def _compare_nan_as(comparison: Any, besides: dict[str, tuple[int, int | None]]) -> None:
    """Makes a comparison of floats order NaN as the larger, or as the smaller, operand."""
    uses = uses_of(comparison.results[0])
    operands = list(comparison.operands)
    nan, number = besides[_direction(comparison)]
    with ir.InsertionPoint.after(comparison):
        also = compare("NE", operands[nan], operands[nan])
        if number is not None:
            also = binary("and", also, compare("EQ", operands[number], operands[number]))
        redirect(uses, binary("or", comparison.results[0], also))


def _is_float(value: Any) -> bool:
    return isinstance(value.type.element_type, ir.FloatType)


def _integer() -> Any:
    return ir.IntegerType.get_signless(32)


def _is_nan(value: Any, *, is_first: bool) -> Any:
    """Returns the ranks of NaN beside 0: 1, or -1 for the first rank."""
    found = converted(compare("NE", value, value), _integer())
    return make("stablehlo.negate", [found], found.type) if is_first else found


def _positions(like: Any, dimension: int) -> Any:
    """Returns each element's position in a dimension."""
    attributes = {"iota_dimension": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), dimension)}
    return make("stablehlo.iota", [], ir.RankedTensorType.get(like.shape, _integer()), attributes)


def _scalar(ranks: Any, number: int) -> Any:
    """Returns one of the two ranks."""
    return make("stablehlo.reshape", [slice_from(ranks, number, 1)], ir.RankedTensorType.get([], _integer()))


def _times(value: Any, scalar: Any) -> Any:
    attributes = {"broadcast_dimensions": ir.DenseI64ArrayAttr.get([])}
    if value.type.element_type != scalar.type.element_type:
        scalar = converted(scalar, value.type.element_type)
    return binary("multiply", value, make("stablehlo.broadcast_in_dim", [scalar], value.type, attributes))
