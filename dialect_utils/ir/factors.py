"""Operations on arrays with permuted or merged dimensions, such as f32[8,3] -> f32[3,8], derived from factors.

An order lists dimensions: dimension `order[i]` of a value becomes dimension i. Groups list lists of dimensions: the
dimensions `groups[i]` become dimension i.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import takewhile
from math import prod
from typing import TypeVar

from dialect_utils.ir import Operation, Value, array_shape
from dialect_utils.ir.elementwise import is_elementwise, scalar_operands
from dialect_utils.layout import ArrayShape, Layout
from dialect_utils.ops import Attribute, by_opcode, named, opcode_of
from dialect_utils.ops.factors import RESULT, Factor, Kind, Position

Order = tuple[int, ...]
Groups = Sequence[Sequence[int]]
NamedInts = tuple[str, tuple[int, ...]]
_T = TypeVar("_T")

# Operations beside elementwise ones whose attributes follow from the numbers of dimensions.
_REMADE = named(
    "broadcast concatenate constant dot dynamic-slice dynamic-update-slice gather iota pad reduce reshape reverse "
    "scatter slice transpose"
)
# Those of them that compute in any order of their result.
_ALIGNED = named("broadcast concatenate dynamic-slice dynamic-update-slice iota reverse")
# The first start index; there is one for each dimension of operand 0.
_FIRST_START = by_opcode({"dynamic-slice": 1, "dynamic-update-slice": 2})
_DOT = ("lhs_batch_dims", "rhs_batch_dims", "lhs_contracting_dims", "rhs_contracting_dims")


def identity(rank: int) -> Order:
    """Returns the order in which every dimension stays where it is."""
    return tuple(range(rank))


def value_at(operation: Operation, position: Position) -> Value:
    """Returns the operand or result at a position."""
    return operation.operands[position] if position >= 0 else operation.results[~position]


def positions_of(operation: Operation, value: Value) -> Iterator[Position]:
    """Yields the positions of an operation at which a value is."""
    yield from (index for index, operand in enumerate(operation.operands) if operand == value)
    yield from (~index for index, result in enumerate(operation.results) if result == value)


def factors_of(operation: Operation) -> Sequence[Factor] | None:
    """Returns the factors of an operation that can be rebuilt on permuted or merged arrays, else None."""
    rule = opcode_of(operation.opcode).factors
    return tuple(rule(operation)) if not isinstance(rule, str) and _can_be_remade(operation) else None


def _can_be_remade(operation: Operation) -> bool:
    opcode, operands = operation.opcode, operation.operands
    if opcode not in _REMADE:
        return is_elementwise(operation)
    if opcode in _FIRST_START:
        # A legacy form has all start indices in one array.
        starts = [array_shape(start) for start in operands[_FIRST_START[opcode] :]]
        return len(starts) == array_shape(operands[0]).rank and not any(start.rank for start in starts)
    if opcode == "dot":
        return any(operation.ints(name) is not None for name in _DOT)
    if opcode == "constant":
        return operation.splat_bits is not None
    return opcode != "broadcast" or operation.ints("dimensions") is not None


# Orders


def orders_of(
    operation: Operation, factors: Sequence[Factor], known: Mapping[Position, Order]
) -> Mapping[Position, Order] | None:
    """Returns the order of every operand and result of an operation, given the known orders of some of them.

    The unknown orders are those that move the least data. Scalars have none. Returns None where no known order concerns
    it.
    """
    if operation.opcode == "transpose":
        # A movement computes nothing: each order of its result can be built from its operand.
        source = known.get(0) or _carried(operation, factors, RESULT, known[RESULT])
        return {0: source, RESULT: _carried(operation, factors, 0, source)}
    if operation.opcode == "reshape":
        return {
            position: known.get(position) or _carried(operation, factors, ~position, known[~position])
            for position in (0, RESULT)
        }
    if operation.opcode in ("dot", "reduce"):
        return _of_operands(operation, factors, known)
    if operation.opcode in ("gather", "scatter"):
        return _of_windows(operation, factors, known)
    return _of_aligned(operation, factors, known)


def orders_for_result(operation: Operation, order: Order) -> Mapping[Position, Order] | None:
    """Returns the order of every operand and result with which an operation computes its result in a given order.

    None where the dimensions have different roles, or where the operation would combine elements in another sequence.
    """
    if is_elementwise(operation):
        return _of_elements(len(operation.operands), scalar_operands(operation), order)
    factors = factors_of(operation) if operation.opcode in _ALIGNED else None
    return None if factors is None else _of_aligned(operation, factors, {RESULT: order})


@lru_cache(maxsize=1 << 10)
def _of_elements(count: int, scalars: tuple[int, ...], order: Order) -> Mapping[Position, Order] | None:
    """Returns the orders of an elementwise operation on so many operands; a scalar operand has none."""
    return dict.fromkeys((RESULT, *(i for i in range(count) if i not in scalars)), order) if order else None


def _of_aligned(
    operation: Operation, factors: Sequence[Factor], known: Mapping[Position, Order]
) -> Mapping[Position, Order] | None:
    """Returns the orders of an operation that computes in any order of its result, or else of its first array."""
    leading = next((position for position in (RESULT, *range(len(operation.operands))) if position in known), None)
    if leading is None or not any(leading in each.dimensions for each in factors):
        return None
    positions = (position for position in _positions(operation) if _rank(operation, position))
    return {position: _projected(operation, factors, leading, known[leading], position) for position in positions}


def _positions(operation: Operation) -> Iterator[Position]:
    yield from range(len(operation.operands))
    yield from (~i for i, _ in enumerate(operation.results))


def _projected(
    operation: Operation, factors: Sequence[Factor], leading: Position, order: Order, position: Position
) -> Order:
    """Returns the order of an array whose dimensions shared with a second array have the second array's sequence."""
    if leading == position:
        return order
    found = {
        each.dimensions[leading]: each.dimensions[position]
        for each in factors
        if {leading, position} <= {*each.dimensions}
    }
    return _refilled(identity(_rank(operation, position)), [found[dim] for dim in order if dim in found])


def _carried(operation: Operation, factors: Sequence[Factor], position: Position, order: Order) -> Order:
    """Returns the order of the other side of a transpose or reshape under which no element moves, else the identity.

    Dimensions of one index come first, as in ShapeUtil::AlignLayouts (xla/shape_util.cc).
    """
    other = ~position
    moved = [each for dim in order for each in factors if each.dimensions[position] == dim]
    found = dict.fromkeys(each.dimensions[other] for each in moved)
    sizes = array_shape(value_at(operation, other)).dimensions
    in_place = [each for dim in found for each in factors if each.dimensions[other] == dim]
    carried = (*(dim for dim, size in enumerate(sizes) if size == 1 and dim not in found), *found)
    return carried if len(carried) == len(sizes) and moved == in_place else identity(len(sizes))


def _of_operands(
    operation: Operation, factors: Sequence[Factor], known: Mapping[Position, Order]
) -> Mapping[Position, Order]:
    """Returns the orders of a dot or reduction, which its operands decide.

    The result has the batch first, then the dimensions of each operand.
    """
    arrays = sorted({position for each in factors for position in each.dimensions if position >= 0})
    results = [~i for i, _ in enumerate(operation.results)]
    given, wanted = dict(known), next((known[position] for position in results if position in known), None)
    if operation.opcode == "reduce":
        first = next((known[position] for position in arrays if position in known), None)
        given |= {} if first is None else dict.fromkeys(arrays, first)
    if wanted is not None and _is_grouped(factors, wanted):
        given = {i: _projected(operation, factors, RESULT, wanted, i) for i in arrays} | given
    found = {i: _with_sequences(operation, factors, i, given.get(i) or identity(_rank(operation, i))) for i in arrays}

    def place(dim: int) -> tuple[int, int]:
        factor = _factor_at(factors, RESULT, dim)
        owner = min(position for position in factor.dimensions if position >= 0)
        return _group(factors, dim), found[owner].index(factor.dimensions[owner])

    result = tuple(sorted(range(_rank(operation, RESULT)), key=place))
    return found | dict.fromkeys(results, result)


def _with_sequences(operation: Operation, factors: Sequence[Factor], position: Position, order: Order) -> Order:
    """Returns an order in which a reduction reads the reduced dimensions in their own sequence, so sums stay in order.

    A reduction of several arrays also keeps the sequence of the other dimensions: a proof supports no other sequence.
    """
    if operation.opcode != "reduce":
        return order
    for kind in (Kind.COMBINED, Kind.KEPT)[: 2 if len(operation.results) > 1 else 1]:
        order = _refilled(order, sorted(each.dimensions[position] for each in factors if each.kind is kind))
    return order


def _factor_at(factors: Sequence[Factor], position: Position, dim: int) -> Factor:
    return next(each for each in factors if each.dimensions.get(position) == dim)


def _group(factors: Sequence[Factor], dim: int) -> int:
    """Returns the first dimension of the result that the same operands have."""
    owners = [{*_factor_at(factors, RESULT, each).dimensions} for each in range(dim + 1)]
    return owners.index(owners[dim])


def _is_grouped(factors: Sequence[Factor], order: Order) -> bool:
    """Is true if the dimensions of the result that the same operands have stay together."""
    groups = [_group(factors, dim) for dim in order]
    return groups == sorted(groups)


def _of_windows(
    operation: Operation, factors: Sequence[Factor], known: Mapping[Position, Order]
) -> Mapping[Position, Order] | None:
    """Returns the orders of a gather or scatter of one array; the batch and the indices keep their order.

    The array decides. The batch keeps its position among the windows, or takes the position of the array's dimensions
    that no window has.
    """
    is_gather = operation.opcode == "gather"
    if not is_gather and len(operation.operands) != len(("array", "indices", "updates")):
        return None
    at = RESULT if is_gather else 2
    pairs = {f.dimensions[0]: f.dimensions[at] for f in factors if {0, at} <= {*f.dimensions} and 1 not in f.dimensions}
    array = known.get(0) if is_gather else known.get(0) or known.get(RESULT)
    windows, rank = known.get(at), _rank(operation, at)
    batch = [dim for dim in range(rank) if dim not in pairs.values()]
    if windows is not None and [dim for dim in windows if dim in batch] != batch:
        windows = None
    back = {window: dim for dim, window in pairs.items()}
    if array is None:
        array = identity(_rank(operation, 0)) if windows is None else _interleaved(_rank(operation, 0), windows, back)
    if windows is None:
        windows = _interleaved(rank, array, pairs)
    else:
        windows = _refilled(windows, [pairs[dim] for dim in array if dim in pairs])
    return {0: array, 1: identity(_rank(operation, 1)), at: windows, RESULT: windows if is_gather else array}


def _interleaved(rank: int, order: Order, pairs: Mapping[int, int]) -> Order:
    """Returns an order whose paired dimensions have the sequence and the positions that they have in a given order.

    The unpaired dimensions stay together, after as many paired dimensions as in the given order.
    """
    sequence = [pairs[dim] for dim in order if dim in pairs]
    own = identity(rank)
    count = _leading(order, pairs)
    if count == _leading(identity(len(order)), pairs):
        return _refilled(own, sequence)
    return (*sequence[:count], *(dim for dim in own if dim not in sequence), *sequence[count:])


def _leading(order: Order, dims: Mapping[int, int]) -> int:
    return len([*takewhile(dims.__contains__, order)])


def _rank(operation: Operation, position: Position) -> int:
    return array_shape(value_at(operation, position)).rank


def _refilled(order: Order, sequence: Sequence[int]) -> Order:
    """Returns an order with the dimensions of `sequence` rearranged into that sequence at the positions they occupy."""
    following = iter(sequence)
    return tuple(next(following) if dim in sequence else dim for dim in order)


# Attributes and operands

# A list of dimensions that is in the order of another list.
_PAIRED = {
    "start_indices_batching_dims": "operand_batching_dims",
    "scatter_indices_batching_dims": "input_batching_dims",
}
# Lists whose order is that of summed elements, or of the elements of index vectors.
_SEQUENCES = ("lhs_contracting_dims", "rhs_contracting_dims", "start_index_map", "scatter_dims_to_operand_dims")
_BATCHES = ("lhs_batch_dims", "rhs_batch_dims")


@lru_cache(maxsize=1 << 8)
def numbers_dimensions(opcode: str) -> bool:
    """Is true for an operation with attributes or operands for dimensions, which change with the orders."""
    return opcode in _FIRST_START or any(_is_numbering(each) for each in opcode_of(opcode).attributes)


def _is_numbering(attribute: Attribute) -> bool:
    """Is true for an attribute that lists or measures dimensions."""
    return attribute.numbers is not None or attribute.kind == "dimensions"


def groups_of(operation: Operation, orders: Mapping[Position, Order]) -> Mapping[Position, Groups]:
    """Returns orders as groups of one dimension each; arrays that have none keep their order."""
    return {
        position: [(dim,) for dim in orders.get(position, identity(_rank(operation, position)))]
        for position in _positions(operation)
    }


def merged_groups(rank: int, dimension: int) -> Groups:
    """Returns the groups that join a dimension and the next one."""
    return [(dim, dim + 1) if dim == dimension else (dim,) for dim in range(rank) if dim != dimension + 1]


def joined_sizes(sizes: Sequence[int], groups: Groups) -> tuple[int, ...]:
    """Returns the sizes of dimensions that are joined or in another order."""
    return tuple(prod(sizes[dim] for dim in group) for group in groups)


def regrouped_operands(operation: Operation, values: Sequence[_T], groups: Mapping[Position, Groups]) -> Sequence[_T]:
    """Returns operands without the start indices of dimensions that are joined with another one, the rest in order."""
    first = _FIRST_START.get(operation.opcode)
    if first is None or 0 not in groups:
        return values
    return [*values[:first], *(values[first + group[0]] for group in groups[0])]


def regrouped_ints(operation: Operation, groups: Mapping[Position, Groups]) -> Iterator[NamedInts]:
    """Yields the attributes that change where dimensions at some positions are joined or in another order."""
    for attribute in opcode_of(operation.opcode).attributes:
        position = _position(operation, attribute)
        ints = operation.ints(attribute.name) if position in groups else None
        if ints is None or position is None:
            continue
        if attribute.kind == "sizes":
            new = joined_sizes(ints, groups[position])
        else:
            new = tuple(_renumbered(operation, attribute.name, ints, groups[position], groups))
        if new != ints:
            yield attribute.name, new


def _position(operation: Operation, attribute: Attribute) -> Position | None:
    """Returns the position whose dimensions an attribute lists or measures; None for other attributes."""
    if attribute.numbers is None:
        return RESULT if _is_numbering(attribute) else None
    # Those of a scatter are numbered as if it had one array.
    more = len(operation.results) - 1 if operation.opcode == "scatter" and attribute.numbers else 0
    return attribute.numbers + more


def _renumbered(
    operation: Operation, name: str, ints: Sequence[int], own: Groups, groups: Mapping[Position, Groups]
) -> Sequence[int]:
    """Returns the new numbers of listed dimensions; a number after the last dimension means none."""
    numbers = {group[0]: new for new, group in enumerate(own)} | {sum(map(len, own)): len(own)}
    listed, is_ordered = _in_sequence(operation, name, ints, groups)
    found = [numbers[dim] for dim in listed if dim in numbers]
    return sorted(found) if not is_ordered and [*ints] == sorted(ints) else found


def _in_sequence(
    operation: Operation, name: str, ints: Sequence[int], groups: Mapping[Position, Groups]
) -> tuple[Sequence[int], bool]:
    """Returns listed dimensions in the order in which they are listed now, and whether that order counts."""
    if operation.opcode == "broadcast":
        # One number for each dimension of the operand.
        return ([ints[group[0]] for group in groups[0]] if 0 in groups else ints), True
    if name in _BATCHES:
        # The result has the batch first, in this order.
        found = groups.get(RESULT)
        return (ints if found is None else [ints[group[0]] for group in found if group[0] < len(ints)]), True
    if name in _PAIRED:
        new = {group[0]: i for i, group in enumerate(groups.get(0, ()))}
        pairs = zip(operation.ints(_PAIRED[name]) or (), ints, strict=True)
        return [theirs for _, theirs in sorted(pairs, key=lambda pair: new.get(pair[0], -1))], True
    return ints, name in _SEQUENCES


@lru_cache(maxsize=1 << 12)
def permuted_shape(shape: ArrayShape, permutation: Order) -> ArrayShape:
    """Returns the shape with dimension `permutation[i]` as dimension i and a descending layout, else unchanged."""
    dimensions = tuple(shape.dimensions[i] for i in permutation)
    layout = shape.layout
    if layout is not None:
        padded = layout.padded_dimensions
        layout = layout.replace(
            minor_to_major=Layout.descending(shape.rank).minor_to_major,
            padded_dimensions=None if padded is None else tuple(padded[i] for i in permutation),
        )
    return ArrayShape(shape.element_type, dimensions, layout)
