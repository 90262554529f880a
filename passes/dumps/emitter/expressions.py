"""Arithmetic on arrays of a computation under construction, with Python's operators."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dialect_utils.layout import ELEMENT_TYPES, ArrayShape, ElementType
from passes.dumps.emitter import arrays
from passes.dumps.emitter.code import S32, Code, Dims, Number, Program, Val, constant, index


def _operator(opcode: str) -> Callable[[Expr, Expr | Number], Expr]:
    return lambda self, other: self.binary(opcode, other)


def _reflected(opcode: str) -> Callable[[Expr, Number], Expr]:
    return lambda self, other: self.number(other).binary(opcode, self)


@dataclass(frozen=True, eq=False, slots=True)
class Expr:
    """An array in a computation; beside it a number is an array of its type and dimensions."""

    code: Code
    value: Val

    @property
    def kind(self) -> ElementType:
        """Returns the element type."""
        return self.value.kind

    @property
    def dims(self) -> Dims:
        """Returns the dimensions."""
        return self.value.dims

    def number(self, number: Number) -> Expr:
        """Returns an array of equal numbers, with this type and these dimensions."""
        return Expr(self.code, constant(self.kind, number, self.dims))

    def _other(self, other: Expr | Number) -> Val:
        return other.value if isinstance(other, Expr) else self.number(other).value

    def binary(self, opcode: str, other: Expr | Number) -> Expr:
        """Returns an elementwise operation on two arrays."""
        return Expr(self.code, arrays.binary(self.code, opcode, self.value, self._other(other)))

    def compare(self, direction: str, other: Expr | Number) -> Expr:
        """Returns a comparison: EQ, NE, LT, LE, GT or GE."""
        return Expr(self.code, arrays.compare(self.code, direction, self.value, self._other(other)))

    def unary(self, opcode: str, kind: ElementType | None = None) -> Expr:
        """Returns an elementwise operation on one array."""
        return Expr(self.code, arrays.unary(self.code, opcode, self.value, kind))

    def where(self, chosen: Expr | Number, other: Expr | Number) -> Expr:
        """Returns `chosen` where this is true, else `other`; one of them is an array."""
        like = chosen if isinstance(chosen, Expr) else other
        assert isinstance(like, Expr)
        a, b = (each.value if isinstance(each, Expr) else like.number(each).value for each in (chosen, other))
        return Expr(self.code, arrays.select(self.code, self.value, a, b))

    __add__, __radd__ = _operator("add"), _reflected("add")
    __sub__, __rsub__ = _operator("subtract"), _reflected("subtract")
    __mul__, __rmul__ = _operator("multiply"), _reflected("multiply")
    __truediv__, __rtruediv__ = _operator("divide"), _reflected("divide")
    __and__, __or__ = _operator("and"), _operator("or")

    def __neg__(self) -> Expr:
        return self.unary("negate")

    def __invert__(self) -> Expr:
        return self.unary("not")

    def __abs__(self) -> Expr:
        return self.unary("abs", self.kind.part)

    def iota(self, dimension: int, kind: ElementType = S32) -> Expr:
        """Returns the index of each element along a dimension."""
        return Expr(self.code, arrays.iota(self.code, kind, self.dims, dimension))

    def convert(self, kind: ElementType) -> Expr:
        """Returns the elements in another type."""
        return Expr(self.code, arrays.convert(self.code, self.value, kind))

    def bitcast(self, kind: ElementType) -> Expr:
        """Returns the same bits as elements of another type of the same width."""
        return Expr(self.code, arrays.bitcast_convert(self.code, self.value, kind))

    def unsigned(self) -> Expr:
        """Returns the same bits as unsigned integers."""
        return self.bitcast(ELEMENT_TYPES[f"u{self.kind.bits}"]) if self.kind.is_signed else self

    def reshape(self, *dims: int) -> Expr:
        """Returns the elements with other dimensions."""
        return Expr(self.code, arrays.reshape(self.code, self.value, dims))

    def broadcast(self, dims: Sequence[int], *along: int) -> Expr:
        """Returns a broadcast; dimension i becomes dimension `along[i]`."""
        return Expr(self.code, arrays.broadcast(self.code, self.value, dims, along))

    def sum(self, dimension: int) -> Expr:
        """Returns the sums along a dimension."""
        return Expr(self.code, arrays.reduce(self.code, "add", self.value, 0, [dimension]))

    def cut(self, dimension: int, start: int, limit: int) -> Expr:
        """Returns the elements with indices from `start` to `limit` along a dimension."""
        starts, sizes = [0] * len(self.dims), list(self.dims)
        starts[dimension], sizes[dimension] = start, limit - start
        return Expr(self.code, arrays.slice_static(self.code, self.value, starts, sizes))

    def at(self, *starts: Expr | int) -> Expr:
        """Returns the part of size 1 in each dimension with a start that is computed; 0 begins a whole dimension."""
        sizes = [1 if isinstance(each, Expr) else size for each, size in zip(starts, self.dims, strict=True)]
        return Expr(self.code, arrays.slice_dynamic(self.code, self.value, _indices(starts), sizes))

    def update(self, part: Expr, *starts: Expr | int) -> Expr:
        """Returns the array with a part replaced."""
        return Expr(self.code, arrays.update(self.code, self.value, part.value, _indices(starts)))


def _indices(starts: Sequence[Expr | int]) -> list[Val]:
    return [each.value if isinstance(each, Expr) else index(each) for each in starts]


def joined(parts: Sequence[Expr], dimension: int) -> Expr:
    """Returns arrays joined along a dimension."""
    code = parts[0].code
    return Expr(code, arrays.concatenate(code, [part.value for part in parts], dimension))


def module_text(shapes: Sequence[ArrayShape], make: Callable[..., Expr | Sequence[Expr]]) -> str:
    """Returns the text of a module whose entry computes `make` of parameters; several results are a tuple."""
    program = Program("block")
    code = Code(program, "block")
    made = make(*(Expr(code, code.parameter(shape.element_type, shape.dimensions)) for shape in shapes))
    results = [made] if isinstance(made, Expr) else made
    code.finish([each.value for each in results], as_tuple=not isinstance(made, Expr))
    *called, entry = program.texts.values()
    return "\n".join(["HloModule block", *called, f"ENTRY {entry}"])
