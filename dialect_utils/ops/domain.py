"""The protocol of the domains in which definitions of operations compute, and the error for a missing definition.

A definition is a function `define(domain, operation, operands)`. It turns the attributes of an operation into a few
primitives, with all dimensions in one canonical order, and returns one array for each result; the elements of a tuple
count as results. Each domain gives the primitives a meaning:

* bits (`dialect_utils/execution/reference`): numpy arrays of exact bit patterns, the reference evaluator;
* terms (`dialect_utils/verdict/proof`): terms of a proof, as whole arrays and element by element;
* field (`dialect_utils/verdict/field`): words of a finite field.

For example, `dot` with any dimension numbers becomes transposes and reshapes around `contract`, which multiplies
[batch, rows, summed] by [batch, columns, summed]; so no domain reads the dimension numbers of a dot.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from dialect_utils.layout import ArrayShape, ElementType, Reshape, Shape, Slice, Step, Transpose

if TYPE_CHECKING:
    from dialect_utils.ir import Function, Operation
    from dialect_utils.ops.positions import Positions
    from dialect_utils.ops.window import WindowDimension, Windows

V = TypeVar("V")
# The comparisons of numbers, and of arrays of numpy, by their directions.
DIRECTIONS: Mapping[str, Callable[[Any, Any], Any]] = {
    name: getattr(operator, name.lower()) for name in ("EQ", "GE", "GT", "LE", "LT", "NE")
}


class UndefinedError(Exception):
    """Raised where a definition, or a domain, does not cover an operation; the message says why."""


def static_array(shape: Shape) -> ArrayShape:
    """Returns a shape that is an array of known sizes; raises UndefinedError for others."""
    if not isinstance(shape, ArrayShape) or not shape.is_static:
        raise UndefinedError(f"{shape} is not an array of known sizes")
    return shape


def result_array(operation: Operation, number: int = 0) -> ArrayShape:
    """Returns the shape of a result that is an array of known sizes; tuples count as their elements."""
    return static_array([leaf for value in operation.results for leaf in value.shape.leaves()][number])


@dataclass(frozen=True, slots=True)
class Scatter:
    """A scatter, the function that combines updates, and the order in which columns are sorted, as in `gather`."""

    operation: Operation
    function: Function
    order: tuple[int, ...]


class Domain(Protocol[V]):
    """The primitives. `V` is an array of the domain; a primitive without a meaning there raises UndefinedError."""

    def dimensions(self, array: V) -> tuple[int, ...]:
        """Returns the sizes of an array."""
        raise UndefinedError("arrays have no sizes")

    def element_type(self, array: V) -> ElementType:
        """Returns the element type of an array."""
        raise UndefinedError("arrays have no element type")

    def integers(self, array: V) -> Positions:
        """Returns the values of an array of integers; raises UndefinedError where the domain does not know them."""
        raise UndefinedError("integers is not defined")

    def number(self, element_type: ElementType, value: float, dimensions: tuple[int, ...]) -> V:
        """Returns an array all of whose elements are one number, rounded to the type."""
        raise UndefinedError("number is not defined")

    def each(self, opcode: str, element_type: ElementType, operands: Sequence[V]) -> V:
        """Returns an elementwise operation without attributes on arrays of the same dimensions."""
        raise UndefinedError(f"{opcode} is not defined")

    def map(self, operation: Operation, function: Function, arrays: Sequence[V]) -> list[V]:
        """Returns the results of a function of scalars that is applied at every index."""
        raise UndefinedError("map is not defined")

    def compare(self, direction: str, left: V, right: V, *, is_total: bool) -> V:
        """Returns whether elements are EQ, NE, LT, LE, GT or GE; `is_total` orders floats from -NaN to NaN."""
        raise UndefinedError("compare is not defined")

    def reduce_precision(self, array: V, exponent_bits: int, mantissa_bits: int) -> V:
        """Returns floats rounded to fewer bits."""
        raise UndefinedError("reduce_precision is not defined")

    def move(self, array: V, step: Step, padding: V | None = None) -> V:
        """Returns an array after one step of data movement."""
        raise UndefinedError("move is not defined")

    def broadcast(self, array: V, dimensions: Sequence[int], sizes: Sequence[int]) -> V:
        """Returns an array of `sizes` that repeats another one, whose dimension i becomes `dimensions[i]`.

        A dimension of size 1 is repeated along the result's dimension.
        """
        raise UndefinedError("broadcast is not defined")

    def reverse(self, array: V, dimensions: Sequence[int]) -> V:
        """Returns an array with the elements along some dimensions in reverse order."""
        raise UndefinedError("reverse is not defined")

    def concatenate(self, arrays: Sequence[V], dimension: int) -> V:
        """Returns arrays joined along a dimension."""
        raise UndefinedError("concatenate is not defined")

    def iota(self, element_type: ElementType, size: int) -> V:
        """Returns the vector 0, 1, ... size - 1."""
        raise UndefinedError("iota is not defined")

    def contract(self, operation: Operation, left: V, right: V) -> V:
        """Returns [batch, rows, columns] of [batch, rows, summed] and [batch, columns, summed].

        The engine chooses the order of a sum, and the precision that `operation` leaves open.
        """
        raise UndefinedError("contract is not defined")

    def convolve(self, windows: Windows, lhs: V, rhs: V, groups: int) -> V:
        """Returns [batch, feature, *spatial] of [batch, feature, ...] and [output, input, ...].

        `groups` is the number of feature groups, and no dimension of the window is reversed.
        """
        raise UndefinedError("convolve is not defined")

    def combine(self, opcode: str, array: V, initial: V) -> V:
        """Returns the [kept] of an array [kept, reduced], combined by an elementwise operation of two operands.

        The engine chooses the order; the initial value, a scalar, takes part once.
        """
        raise UndefinedError("combine is not defined")

    def sum_of(self, _: Operation, array: V) -> V:
        """Returns the [kept] of an array [kept, reduced], as an operation sums it; the engine chooses the order."""
        return self.combine("add", array, self.number(self.element_type(array), 0, ()))

    def reduce(self, operation: Operation, function: Function, arrays: Sequence[V], initial: Sequence[V]) -> list[V]:
        """Returns the [kept] of arrays [kept, reduced], combined by a function in an order that the engine chooses."""
        raise UndefinedError("reduce is not defined")

    def reduce_window(self, windows: Windows, function: Function, arrays: Sequence[V], initial: Sequence[V]) -> list[V]:
        """Returns arrays with every window, combined; the initial values take part once."""
        raise UndefinedError("reduce_window is not defined")

    def slice_at(self, array: V, starts: Sequence[V], sizes: tuple[int, ...]) -> V:
        """Returns `sizes` elements from scalar start indices on, clamped so that the slice is inside the array."""
        raise UndefinedError("slice_at is not defined")

    def update_at(self, array: V, update: V, starts: Sequence[V]) -> V:
        """Returns an array with an update written at scalar start indices, clamped so that it is inside."""
        raise UndefinedError("update_at is not defined")

    def gather(
        self, operation: Operation, array: V, columns: Sequence[V], windows: tuple[int, ...], order: tuple[int, ...]
    ) -> V:
        """Returns windows [count, *windows, rest] of an array [*indexed, rest].

        Column i has the start indices of all windows in dimension i, which are clamped so that the window is inside.
        `order` is the order in which the columns are sorted, where `operation` says that they are.
        """
        raise UndefinedError("gather is not defined")

    def scatter_at(self, scatter: Scatter, arrays: Sequence[V], columns: Sequence[V], updates: Sequence[V]) -> list[V]:
        """Returns arrays [*indexed, rest] with updates [count, *windows, rest] combined into them.

        Column i has the start indices of all windows in dimension i; a window that is not inside is left out. The
        engine chooses the order of the updates of one element.
        """
        raise UndefinedError("scatter is not defined")

    def scatter(self, function: Function, arrays: Sequence[V], updates: Sequence[V], positions: Positions) -> list[V]:
        """Returns arrays with updates combined into them at flat positions; -1 leaves an update out.

        The engine chooses the order of the updates of one position.
        """
        raise UndefinedError("scatter is not defined")

    def select_in_windows(
        self, function: Function, array: V, window: tuple[WindowDimension, ...], sizes: tuple[int, ...]
    ) -> Positions:
        """Returns the flat position of the element that a function selects in every window, -1 in an empty one."""
        raise UndefinedError("select_in_windows is not defined")

    def sort(self, function: Function, arrays: Sequence[V], dimension: int) -> list[V]:
        """Returns arrays sorted together along a dimension; the function tells whether an element comes before another.

        The engine chooses the order of equal keys in an unstable sort.
        """
        raise UndefinedError("sort is not defined")

    def ranked(self, array: V, *, is_descending: bool) -> list[V]:
        """Returns the elements sorted along the last dimension, and their indices; floats in their total order."""
        raise UndefinedError("ranked is not defined")

    def call(self, function: Function, arguments: Sequence[V]) -> list[V]:
        """Returns the results of a function of whole arrays, tuples flattened."""
        raise UndefinedError("call is not defined")

    def fourier(self, operation: Operation, array: V, kind: str, lengths: Sequence[int]) -> V:
        """Returns the transform FFT, IFFT, RFFT or IRFFT of the last dimensions, of `lengths`."""
        raise UndefinedError("fourier is not defined")

    def cholesky(self, array: V) -> V:
        """Returns the lower factors of [batch, n, n] symmetric matrices, whose lower triangles are read."""
        raise UndefinedError("cholesky is not defined")

    def solve_lower(self, matrix: V, right: V, *, has_unit_diagonal: bool) -> V:
        """Returns x of matrix * x = right for [batch, n, n] lower triangular matrices and [batch, n, columns]."""
        raise UndefinedError("solve_lower is not defined")


def transposed(domain: Domain[V], array: V, permutation: Sequence[int]) -> V:
    """Returns a transposed array."""
    return domain.move(array, Transpose(tuple(permutation)))


def reshaped(domain: Domain[V], array: V, dimensions: Sequence[int]) -> V:
    """Returns a reshaped array."""
    return domain.move(array, Reshape(tuple(dimensions)))


def grouped(domain: Domain[V], array: V, *groups: Sequence[int]) -> V:
    """Returns an array with one dimension for each group of dimensions, which `groups` lists in order."""
    sizes = domain.dimensions(array)
    moved = transposed(domain, array, [i for group in groups for i in group])
    return reshaped(domain, moved, [prod(sizes[i] for i in group) for group in groups])


def required_ints(operation: Operation, name: str) -> tuple[int, ...]:
    """Returns an attribute as integers; raises UndefinedError where it is absent."""
    found = operation.ints(name)
    if found is None:
        raise UndefinedError(f"{operation.opcode} has no {name}")
    return found


def section(domain: Domain[V], array: V, dimension: int, count: int, start: int = 0) -> V:
    """Returns `count` elements along a dimension, from a start on."""
    limit = list(domain.dimensions(array))
    begin = [0] * len(limit)
    begin[dimension], limit[dimension] = start, start + count
    return domain.move(array, Slice(tuple(begin), tuple(limit)))


def only_function(operation: Operation) -> Function:
    """Returns the function that an operation applies; raises UndefinedError where it names none or several."""
    if len(operation.called) != 1:
        raise UndefinedError(f"{operation.opcode} names {len(operation.called)} computations")
    return operation.called[0]
