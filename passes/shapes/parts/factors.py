"""The indices that an operation shares between dimensions of its operands and results.

A factor is one such index. In a dot the rows are a factor: dimension 0 of the left operand and of the result. Each
element of the result at an index of a factor depends only on elements at this index. Where the result lacks the factor,
the operation combines all its indices, in ascending order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from dialect_utils.ir import Operation, Value, array_shape
from dialect_utils.ir.chains import is_pinned, is_plain
from dialect_utils.ir.elementwise import is_elementwise, scalar_operands
from dialect_utils.layout import ArrayShape
from dialect_utils.ops import by_opcode

# Operand i is position i, result i is position ~i.
Position = int
RESULT: Position = ~0
# Dimensions by position.
Positions = Mapping[Position, int]

# Attributes that list the size of a slice in each dimension of the first operand.
SIZES = by_opcode({"dynamic-slice": "dynamic_slice_sizes", "gather": "slice_sizes"})
# The first of the start indices, one for each dimension of the first operand.
FIRST_START = by_opcode({"dynamic-slice": 1, "dynamic-update-slice": 2})


@dataclass(frozen=True, slots=True)
class Factor:
    """An index: the dimension that it is of each operand and result that has it.

    `is_whole` is false where the operation joins or cuts these dimensions, so that their sizes differ.
    """

    dimensions: Positions
    is_whole: bool = True


@dataclass(frozen=True, slots=True)
class Factors:
    """The factors of operations, each found once."""

    known: dict[Operation, tuple[Factor, ...]] = field(default_factory=dict)

    def of(self, operation: Operation) -> tuple[Factor, ...]:
        """Returns the factors of an operation; none where a change of its dimensions is not supported."""
        if operation not in self.known:
            self.known[operation] = factors_of(operation)
        return self.known[operation]

    def at(self, operation: Operation, position: Position, dimension: int) -> Factor | None:
        """Returns the factor that a dimension of an operand or result is."""
        return next((each for each in self.of(operation) if each.dimensions.get(position) == dimension), None)


def value_at(operation: Operation, position: Position) -> Value:
    """Returns the operand or result at a position."""
    return operation.operands[position] if position >= 0 else operation.results[~position]


def positions_of(operation: Operation, value: Value) -> Iterator[Position]:
    """Yields the positions of an operation at which a value is."""
    yield from (index for index, operand in enumerate(operation.operands) if operand == value)
    yield from (~index for index, result in enumerate(operation.results) if result == value)


def factors_of(operation: Operation) -> tuple[Factor, ...]:
    """Returns the factors of an operation on plain arrays; none for others and where nothing is known."""
    if is_elementwise(operation):
        rule: _Rule | None = _elementwise
    else:
        rule = _RULES.get(operation.opcode)
    if rule is None or is_pinned(operation) or not all(map(is_plain, (*operation.operands, *operation.results))):
        return ()
    return tuple(rule(operation))


_Rule = Callable[[Operation], Iterator[Factor]]


def _shape(operation: Operation, position: Position) -> ArrayShape:
    return array_shape(value_at(operation, position))


def _ints(operation: Operation, name: str) -> tuple[int, ...]:
    return operation.ints(name) or ()


def _aligned(positions: Sequence[Position], dimensions: Iterator[int] | Sequence[int]) -> Iterator[Factor]:
    """Yields a factor for each dimension, which has the same number at all positions."""
    yield from (Factor(dict.fromkeys(positions, dimension)) for dimension in dimensions)


def _elementwise(operation: Operation) -> Iterator[Factor]:
    scalars = scalar_operands(operation)
    positions = [index for index in range(len(operation.operands)) if index not in scalars]
    return _aligned([*positions, RESULT], range(_shape(operation, RESULT).rank))


def _constant(operation: Operation) -> Iterator[Factor]:
    if operation.splat_bits is not None:
        yield from _aligned([RESULT], range(_shape(operation, RESULT).rank))


def _broadcast(operation: Operation) -> Iterator[Factor]:
    if operation.attribute("broadcast_sizes") is not None:
        return
    source, result = _shape(operation, 0), _shape(operation, RESULT)
    given = {result_dimension: index for index, result_dimension in enumerate(_ints(operation, "dimensions"))}
    for dimension, size in enumerate(result.dimensions):
        index = given.get(dimension)
        if index is None:
            yield Factor({RESULT: dimension})
        elif source.dimensions[index] == size:
            yield Factor({0: index, RESULT: dimension})


def _iota(operation: Operation) -> Iterator[Factor]:
    counted = _ints(operation, "iota_dimension")
    return _aligned([RESULT], (i for i in range(_shape(operation, RESULT).rank) if i not in counted))


def _reverse(operation: Operation) -> Iterator[Factor]:
    reversed_ = _ints(operation, "dimensions")
    return _aligned([0, RESULT], (i for i in range(_shape(operation, RESULT).rank) if i not in reversed_))


def _concatenate(operation: Operation) -> Iterator[Factor]:
    positions, joined = [*range(len(operation.operands)), RESULT], _ints(operation, "dimensions")
    for dimension in range(_shape(operation, RESULT).rank):
        yield Factor(dict.fromkeys(positions, dimension), is_whole=dimension not in joined)


def _step(operation: Operation) -> Iterator[Factor]:
    """Yields the factors of a transpose, slice or pad; pads whose padding is marked keep their dimensions."""
    step = operation.step
    if step is None or (step.adds_elements and operation.frontend_attributes):
        return
    for source, dimension, is_whole in step.shared_dimensions(_shape(operation, 0).dimensions):
        yield Factor({0: source, RESULT: dimension}, is_whole)


def _reshape(operation: Operation) -> Iterator[Factor]:
    """Yields the dimensions that a reshape keeps: the same number of elements is before them and after them."""
    sides = [
        [(index, size) for index, size in enumerate(_shape(operation, position).dimensions) if size != 1]
        for position in (0, RESULT)
    ]
    if any(not size for side in sides for _, size in side):
        return
    while all(sides):
        groups = [[side.pop(0)] for side in sides]
        products = [group[0][1] for group in groups]
        while products[0] != products[1]:
            less = products.index(min(products))
            groups[less].append(sides[less].pop(0))
            products[less] *= groups[less][-1][1]
        if all(len(group) == 1 for group in groups):
            yield Factor({0: groups[0][0][0], RESULT: groups[1][0][0]})


def _reduce(operation: Operation) -> Iterator[Factor]:
    arrays = list(range(len(operation.operands) // 2))
    reduced, results = _ints(operation, "dimensions"), [~i for i in range(len(operation.results))]
    kept = 0
    for dimension in range(_shape(operation, 0).rank):
        if dimension in reduced:
            yield Factor(dict.fromkeys(arrays, dimension))
        else:
            yield Factor({**dict.fromkeys(arrays, dimension), **dict.fromkeys(results, kept)})
            kept += 1


def _dot(operation: Operation) -> Iterator[Factor]:
    names = ("lhs_batch_dims", "rhs_batch_dims", "lhs_contracting_dims", "rhs_contracting_dims")
    if all(operation.ints(name) is None for name in names):
        return
    left_batch, right_batch, left_summed, right_summed = (_ints(operation, name) for name in names)
    for index, (left, right) in enumerate(zip(left_batch, right_batch, strict=True)):
        yield Factor({0: left, 1: right, RESULT: index})
    for left, right in zip(left_summed, right_summed, strict=True):
        yield Factor({0: left, 1: right})
    index = len(left_batch)
    for position, taken in ((0, (*left_batch, *left_summed)), (1, (*right_batch, *right_summed))):
        for dimension in range(_shape(operation, position).rank):
            if dimension not in taken:
                yield Factor({position: dimension, RESULT: index})
                index += 1


def _gather(operation: Operation) -> Iterator[Factor]:
    array, offsets = _shape(operation, 0), _ints(operation, "offset_dims")
    batching, mapped = _ints(operation, "operand_batching_dims"), _ints(operation, "start_index_map")
    gone, sizes = {*_ints(operation, "collapsed_slice_dims"), *batching}, _ints(operation, "slice_sizes")
    kept = [i for i in range(array.rank) if i not in gone]
    for dimension, offset in zip(kept, offsets, strict=True):
        if sizes[dimension] == array.dimensions[dimension] and dimension not in mapped:
            yield Factor({0: dimension, RESULT: offset})
    batch = [i for i in range(_shape(operation, RESULT).rank) if i not in offsets]
    joined = dict(zip(_ints(operation, "start_indices_batching_dims"), batching, strict=True))
    for index, result in zip(_index_dimensions(operation, 1), batch, strict=True):
        yield Factor({**({0: joined[index]} if index in joined else {}), 1: index, RESULT: result})


def _scatter(operation: Operation) -> Iterator[Factor]:
    count = len(operation.operands) // 2
    arrays = [*range(count), *(~i for i in range(count))]
    updates = list(range(count + 1, 2 * count + 1))
    array, update = _shape(operation, 0), _shape(operation, updates[0])
    windows, batching = _ints(operation, "update_window_dims"), _ints(operation, "input_batching_dims")
    gone, mapped = {*_ints(operation, "inserted_window_dims"), *batching}, "scatter_dims_to_operand_dims"
    kept = [i for i in range(array.rank) if i not in gone]
    for dimension, window in zip(kept, windows, strict=True):
        if update.dimensions[window] == array.dimensions[dimension] and dimension not in _ints(operation, mapped):
            yield Factor({**dict.fromkeys(arrays, dimension), **dict.fromkeys(updates, window)})
    batch = [i for i in range(update.rank) if i not in windows]
    joined = dict(zip(_ints(operation, "scatter_indices_batching_dims"), batching, strict=True))
    for index, window in zip(_index_dimensions(operation, count), batch, strict=True):
        shared = dict.fromkeys(arrays, joined[index]) if index in joined else {}
        yield Factor({**shared, count: index, **dict.fromkeys(updates, window)})


def _index_dimensions(operation: Operation, position: Position) -> list[int]:
    """Returns the dimensions of start indices without that of the index vectors."""
    vector = _ints(operation, "index_vector_dim")
    return [i for i in range(_shape(operation, position).rank) if i not in vector]


def _dynamic_slice(operation: Operation) -> Iterator[Factor]:
    return _unmoved(operation, [0, RESULT], _ints(operation, "dynamic_slice_sizes"))


def _dynamic_update_slice(operation: Operation) -> Iterator[Factor]:
    return _unmoved(operation, [0, 1, RESULT], _shape(operation, 1).dimensions)


def _unmoved(operation: Operation, positions: Sequence[Position], sizes: Sequence[int]) -> Iterator[Factor]:
    """Yields the dimensions that a dynamic slice spans: their start index is 0, whatever the operand for it is."""
    array, first = _shape(operation, 0), FIRST_START[operation.opcode]
    starts = [array_shape(start) for start in operation.operands[first:]]
    # A legacy form has all start indices in one array.
    if len(starts) == array.rank and not any(start.rank for start in starts):
        yield from _aligned(positions, (i for i, size in enumerate(array.dimensions) if sizes[i] == size))


# How the dimensions of operands and results belong together is a question that only this pass family asks.
_RULES: Mapping[str, _Rule] = by_opcode(
    {
        "broadcast": _broadcast,
        "concatenate": _concatenate,
        "constant": _constant,
        "dot": _dot,
        "dynamic-slice": _dynamic_slice,
        "dynamic-update-slice": _dynamic_update_slice,
        "gather": _gather,
        "iota": _iota,
        "pad": _step,
        "reduce": _reduce,
        "reshape": _reshape,
        "reverse": _reverse,
        "scatter": _scatter,
        "slice": _step,
        "transpose": _step,
    }
)
