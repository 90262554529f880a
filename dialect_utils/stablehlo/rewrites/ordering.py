"""A module whose sorts and reductions leave no order open: in which order, its last argument says.

A comparator that says `a < b` of floats tells nothing of NaN, and a sort that is not stable tells nothing
of equal keys, nor a reduction of which element comes first: what an engine makes of them depends on its
algorithm, and may change with a layout. Here NaN is larger than every number, or smaller, and equal to NaN.
main takes two more numbers: the rank of a later position among equal keys (1: as they come, -1: the other way
round; reductions, too, begin at the other end), and before it that of the larger one in the total order of floats
(0: none), as -0 and 0 are equal, and subnormal numbers to an engine that flushes them. Of a stable sort
positions are as they come. All of these are orders that the module allows. On other data it computes what it did.

Only the worker imports this module. Works on StableHLO, which XLA makes of HLO, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from dialect_utils.ops import Trait, has, hlo_opcode
from dialect_utils.stablehlo.bindings import context, ir
from dialect_utils.stablehlo.rewrites.editing import (
    COMPARE,
    binary,
    compare,
    converted,
    copy_operations,
    inline_calls,
    main_function,
    make,
    slice_from,
    splat,
    total_order_rank,
)

_SORT, _REDUCE = "stablehlo.sort", "stablehlo.reduce"
# Where a comparison of two elements is true besides what it says, as NaN is the larger one: of which operand
# NaN is asked, and of which a number.
_NAN_IS_LARGER = {"LT": (1, 0), "GT": (0, 1), "LE": (1, None), "GE": (0, None)}
_NAN_IS_SMALLER = {"LT": (0, 1), "GT": (1, 0), "LE": (0, None), "GE": (1, None)}
_SIDES = [[0], [1]]


def order(program: str | bytes, *, nan_first: bool = False) -> tuple[str, int, int]:
    """Returns the ordered form of a StableHLO module.

    Also how many operations left an order open, and how many sorts are not stable. Raises what MLIR raises where
    there is none.
    """
    with context(allow_unregistered=False), ir.Location.unknown():
        module = ir.Module.parse(program)
        inline_calls(module)
        main = main_function(module)
        block = main.regions[0].blocks[0]
        ranks = block.add_argument(ir.RankedTensorType.get([2], _integer()), ir.Location.unknown())
        left_open = of_equal_keys = 0
        for operation in list(_choosing(main)):
            if operation.name == _SORT:
                left_open += _is_open(operation)
                of_equal_keys += not _is_stable(operation)
                _sort_by_ranks(operation, ranks, nan_first=nan_first)
            else:
                left_open += _compare_nan(operation, _NAN_IS_SMALLER if nan_first else _NAN_IS_LARGER, ranks)
        kind = ir.FunctionType.get([argument.type for argument in block.arguments], main.type.results)
        main.attributes["function_type"] = ir.TypeAttr.get(kind)
        if "arg_attrs" in main.attributes:
            del main.attributes["arg_attrs"]
        module.operation.verify()
        return str(module), left_open, of_equal_keys


def _choosing(main: Any) -> Iterator[Any]:
    """Yields the operations that apply a function to elements in an order of the engine's choosing."""
    found: list[Any] = []

    def collect(operation: Any) -> Any:
        opcode = hlo_opcode(operation.name)
        if opcode == "sort" or has(opcode, Trait.COMBINES):
            found.append(operation.operation)
        return ir.WalkResult.ADVANCE

    main.operation.walk(collect)
    yield from found


def _is_open(sort: Any) -> bool:
    """Is true of a sort that is not stable, or compares floats of which some are NaN."""
    return not _is_stable(sort) or any(map(_says_nothing_of_nan, _comparisons(sort)))


def _is_stable(sort: Any) -> bool:
    return "is_stable" in sort.attributes and ir.BoolAttr(sort.attributes["is_stable"]).value


def _sort_by_ranks(sort: Any, ranks: Any, *, nan_first: bool) -> None:
    """Gives a sort operands that decide where its comparator does not, the first of them first."""
    block = sort.regions[0].blocks[0]
    arguments = list(block.arguments)
    keys = [value for i, value in enumerate(sort.operands) if any(list(arguments[2 * i + j].uses) for j in (0, 1))]
    floats = [value for value in keys if _is_float(value)]
    dimension = ir.IntegerAttr(sort.attributes["dimension"]).value
    with ir.InsertionPoint(sort):
        levels = [_negated(_is_nan(value)) if nan_first else _is_nan(value) for value in floats]
        places = _places(sort.operands[0].type, dimension)
        if not _is_stable(sort):
            levels += [_times(total_order_rank(value), _scalar(ranks, 1)) for value in floats]
            places = _times(places, _scalar(ranks, 0))
        levels.append(places)
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
    """Makes a comparator compare by more arguments, of these types, where it says the same both ways round."""
    *body, end = (each.operation for each in block.operations)
    arguments = list(block.arguments)
    turned = dict(pair for a, b in zip(arguments[::2], arguments[1::2], strict=True) for pair in ((a, b), (b, a)))
    pairs = [[block.add_argument(kind, ir.Location.unknown()) for _ in range(2)] for kind in kinds]
    with ir.InsertionPoint(end):
        copy_operations(body, turned)
        says = end.operands[0]
        is_open = compare("EQ", says, turned.get(says, says), "UNSIGNED")
        tie = None
        for a, b in reversed(pairs):
            first = compare("LT", a, b, "SIGNED")
            tie = first if tie is None else binary("or", first, binary("and", compare("EQ", a, b, "SIGNED"), tie))
        end.operands[0] = make("stablehlo.select", [is_open, tie, says], says.type)


def _compare_nan(operation: Any, besides: dict[str, tuple[int, int | None]], ranks: Any) -> bool:
    """Makes what an operation combines elements by compare NaN, too; is false where it left nothing open."""
    comparisons = [each for each in _comparisons(operation) if _says_nothing_of_nan(each)]
    if not comparisons:
        return False
    if not _looks_for_nan(operation):
        for comparison in comparisons:
            _compare_nan_as(comparison, besides)
    if operation.name == _REDUCE:
        _begin_at_either_end(operation, ranks)
    return True


def _begin_at_either_end(reduce: Any, ranks: Any) -> None:
    """Turns the operands of a reduction round where the rank of a later position is negative."""
    dimensions = reduce.attributes["dimensions"]
    with ir.InsertionPoint(reduce):
        rank = _scalar(ranks, 0)
        is_turned = compare("LT", rank, splat(rank.type, 0), "SIGNED")
        for number, value in list(enumerate(reduce.operands))[: len(reduce.operands) // 2]:
            turned = make("stablehlo.reverse", [value], value.type, {"dimensions": dimensions})
            reduce.operands[number] = make("stablehlo.select", [is_turned, turned, value], value.type)


def _comparisons(operation: Any) -> list[Any]:
    """Returns the comparisons of something of the one element with something of the other."""
    return [each for each, of in _compared_sides(operation) if sorted(map(sorted, of)) == _SIDES]


def _looks_for_nan(operation: Any) -> bool:
    """Is true where some element is compared with itself, which says whether it is NaN."""
    return any(each.operands[0] == each.operands[1] for each, _ in _compared_sides(operation))


def _compared_sides(operation: Any) -> Iterator[tuple[Any, list[frozenset[int]]]]:
    """Yields the comparisons that an operation applies, and which elements their operands are computed from."""
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


def _says_nothing_of_nan(comparison: Any) -> bool:
    """Is true of a comparison of floats which one comes first, but for one in the total order."""
    kind = str(comparison.attributes["compare_type"]) if "compare_type" in comparison.attributes else ""
    return _direction(comparison) in _NAN_IS_LARGER and _is_float(comparison.operands[0]) and "TOTALORDER" not in kind


def _compare_nan_as(comparison: Any, besides: dict[str, tuple[int, int | None]]) -> None:
    """Makes a comparison of floats true of NaN, too, where that is the larger operand, or the smaller one."""
    users = [(use.owner, use.operand_number) for use in comparison.results[0].uses]
    operands = list(comparison.operands)
    nan, number = besides[_direction(comparison)]
    with ir.InsertionPoint.after(comparison):
        also = compare("NE", operands[nan], operands[nan])
        if number is not None:
            also = binary("and", also, compare("EQ", operands[number], operands[number]))
        whole = binary("or", comparison.results[0], also)
    for owner, position in users:
        owner.operands[position] = whole


def _is_float(value: Any) -> bool:
    return isinstance(value.type.element_type, ir.FloatType)


def _integer() -> Any:
    return ir.IntegerType.get_signless(32)


def _is_nan(value: Any) -> Any:
    return converted(compare("NE", value, value), _integer())


def _places(like: Any, dimension: int) -> Any:
    """Returns the position of each element in a dimension."""
    attributes = {"iota_dimension": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), dimension)}
    return make("stablehlo.iota", [], ir.RankedTensorType.get(like.shape, _integer()), attributes)


def _scalar(ranks: Any, number: int) -> Any:
    """Returns one of the two ranks."""
    return make("stablehlo.reshape", [slice_from(ranks, number, 1)], ir.RankedTensorType.get([], _integer()))


def _negated(value: Any) -> Any:
    return make("stablehlo.negate", [value], value.type)


def _times(value: Any, scalar: Any) -> Any:
    attributes = {"broadcast_dimensions": ir.DenseI64ArrayAttr.get([])}
    if value.type.element_type != scalar.type.element_type:
        scalar = converted(scalar, value.type.element_type)
    return binary("multiply", value, make("stablehlo.broadcast_in_dim", [scalar], value.type, attributes))
