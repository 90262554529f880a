"""Evaluates terms in another domain: applies the primitive of each term to arrays that numpy indexes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from math import prod
from typing import Any, Generic, TypeVar

import numpy as np

from dialect_utils.layout import ArrayShape, ElementType, Reshape
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.layout.proof.deadline import check_deadline
from dialect_utils.ops.arrays import ArrayDomain
from dialect_utils.ops.domain import UndefinedError, V
from dialect_utils.ops.positions import scatter_positions
from dialect_utils.ops.window import Windows
from dialect_utils.verdict.terms.primitives import Term, bottom_up

T = TypeVar("T", bound=Term)


class Interpretation(ArrayDomain[V], Generic[T, V]):
    """The values of requested terms: an array of the domain, or another value for a tuple or function."""

    def __init__(self) -> None:
        self.values: dict[T, Any] = {}

    def value(self, term: T) -> Any:
        """Returns the value of a term."""
        for part in bottom_up(term, self.values):
            check_deadline()
            self.values[part] = self.interpreted(part)
        return self.values[term]

    @abstractmethod
    def interpreted(self, term: T) -> Any:
        """Returns the value of a term whose operands have values."""

    def index(self, term: T) -> V:
        """Returns the value of start indices."""
        found: V = self.values[term]
        return found

    @abstractmethod
    def iota(self, element_type: ElementType, size: int) -> V:
        """Returns the vector 0, 1, ... size - 1."""

    @abstractmethod
    def combine(self, opcode: str, element_type: ElementType, array: V, initial: V) -> V:
        """Reduces an array [kept, reduced] to [kept] by an elementwise operation."""

    @abstractmethod
    def skipped(self, opcode: str, element_type: ElementType, initial: V) -> V:
        """Returns window padding, which HLO skips and StableHLO combines, as one unknown scalar."""

    @abstractmethod
    def reread(self, array: V, old: ElementType, new: ElementType, sizes: tuple[int, ...]) -> V:
        """Returns the bits of an array read as another element type; the result has dimensions `sizes`."""

    @abstractmethod
    def padding(self, written: Any, sizes: tuple[int, ...], position: tuple[T, int]) -> V:
        """Returns a padding value, as a scalar or for each index; `position` is the term and the number of its step."""

    def moved(self, term: T) -> V:
        """Returns the array after a term's steps of data movement."""
        plan, scalars = term.label, iter(term.operands[1:])
        assert isinstance(plan, Plan)  # moved terms have plans as labels
        array = self.values[term.operands[0]]
        steps = zip(plan.steps, plan.paddings, plan.stages, plan.stages[1:], strict=False)
        for number, (step, written, (old, _), (new, sizes)) in enumerate(steps):
            if step.regroups_bits:
                array = self.reread(array, old, new, sizes)
            else:
                padding = None if written is None else self.padding(next(scalars), sizes, (term, number))
                array = self.move(array, step, padding)
        found: V = array
        return found

    def scattered(self, scatter: T, apply: Callable[[T, Sequence[Any]], Sequence[Any]]) -> list[Any]:
        """Returns the results of a scatter; `apply` applies its function to the elements of arrays.

        Raises UndefinedError where an index is not known, or where the order of updates may matter.
        """
        label: Any = scatter.label
        *operands, function = scatter.operands
        arrays, updates = (
            [self.values[each] for each in part] for part in (operands[: label[1]], operands[-label[1] :])
        )
        columns = [self.integers(self.index(each)) for each in operands[label[1] : -label[1]]]
        sizes, written = self.dimensions(arrays[0]), self.dimensions(updates[0])[1:]
        flat = scatter_positions(sizes, [*columns, np.zeros_like(columns[0])], written).reshape(-1)
        inside = flat >= 0
        if len(np.unique(flat[inside])) < inside.sum():
            raise UndefinedError("an element is updated twice")
        olds = [self.select(lambda a: a.reshape(-1)[flat[inside]], each) for each in arrays]
        news = [self.select(lambda a: a.reshape(-1)[inside], each) for each in updates]

        def put(old: Any, new: Any) -> Any:
            found = old.reshape(-1).copy()
            found[flat[inside]] = new
            return found.reshape(sizes)

        return [self.select(put, *pair) for pair in zip(arrays, apply(function, [*olds, *news]), strict=True)]

    def computed(self, term: T) -> V:
        """Applies the primitive of a term; raises UndefinedError for other operations."""
        label: Any = term.label
        if label == ("iota",):
            return self.iota(_array(term).element_type, _array(term).dimensions[0])
        if not isinstance(label, tuple) or not term.operands:
            raise UndefinedError("the term is not a primitive")
        operands: list[Any] = [self.values[operand] for operand in term.operands]
        found = self._selected(term, label, operands)
        return self._combined(term, label, operands) if found is None else found

    def _selected(self, term: T, label: Any, operands: Sequence[Any]) -> V | None:
        """Applies a primitive that moves elements; returns None for others."""
        sizes = _array(term).dimensions
        match label:
            case ("broadcast", dimensions):
                return self.broadcast(operands[0], dimensions, sizes)
            case ("reverse", dimensions):
                return self.reverse(operands[0], tuple(dimensions))
            case ("concatenate", dimension):
                return self.concatenate(operands, dimension)
            case ("dynamic-slice",):
                return self.slice_at(operands[0], [self.index(each) for each in term.operands[1:]], sizes)
            case ("dynamic-update-slice",):
                return self.update_at(operands[0], operands[1], [self.index(each) for each in term.operands[2:]])
            case ("gather", windows, _):
                return self.gather(None, operands[0], [self.index(each) for each in term.operands[1:]], windows)
        return None

    def _combined(self, term: T, label: Any, operands: Sequence[Any]) -> V:
        """Applies a primitive that combines elements."""
        sizes = _array(term).dimensions
        match label:
            case ("dot", _):
                left, right = operands
                self.spend(prod(sizes) * self.dimensions(left)[2])
                return self.contract(term, left, right)
            case ("convolution", window, groups, has_padding, _):
                left, right = operands
                return self.convolve(Windows(term, window, sizes, has_padding), left, right, groups)
            case ("reduce", str(opcode)):
                array, initial = operands
                return self.combine(opcode, _array(term).element_type, array, initial)
            case ("reduce-window", str(opcode), window, has_padding):
                array, initial = operands
                padding = initial if has_padding else self.skipped(opcode, _array(term).element_type, initial)
                rows = self.windows(array, padding, window, sizes)
                return self.move(self.combine(opcode, _array(term).element_type, rows, initial), Reshape(sizes))
        raise UndefinedError("the term is not a primitive")


def _array(term: Term) -> ArrayShape:
    assert isinstance(term.shape, ArrayShape)  # primitives make arrays
    return term.shape
