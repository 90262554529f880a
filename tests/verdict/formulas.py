"""Formulas in Python as HLO modules: `lambda x: 1 / (1 + exp(-x))` on arrays of one element type."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from dialect_utils.io.files import parse_bytes
from dialect_utils.ir import Module

_ADD = "add { a = T[] parameter(0)\n b = T[] parameter(1)\n ROOT s = T[] add(a, b) }\n"
_MAX = _ADD.replace("add", "maximum")


@dataclass
class Writer:
    """The lines of an entry computation."""

    kind: str
    lines: list[str] = field(default_factory=list)

    def make(self, text: str, dims: str, kind: str = "") -> Array:
        name = f"v{len(self.lines)}"
        self.lines.append(f"{name} = {kind or self.kind}[{dims}] {text}")
        return Array(self, name, dims, kind or self.kind)

    def number(self, value: float, dims: str) -> Array:
        scalar = self.make(f"constant({value!r})", "")
        return self.make(f"broadcast({scalar.name}), dimensions={{}}", dims) if dims else scalar


@dataclass(frozen=True)
class Array:
    """One value of a computation."""

    writer: Writer
    name: str
    dims: str
    kind: str

    def op(self, text: str, *others: Array | float, dims: str | None = None, kind: str = "", rest: str = "") -> Array:
        """Applies an opcode to this array and others; numbers are broadcast to its dimensions."""
        arrays = [each if isinstance(each, Array) else self.writer.number(float(each), self.dims) for each in others]
        names = ", ".join(each.name for each in (self, *arrays))
        return self.writer.make(f"{text}({names}){rest}", self.dims if dims is None else dims, kind or self.kind)

    def __add__(self, other: Array | float) -> Array:
        return self.op("add", other)

    def __sub__(self, other: Array | float) -> Array:
        return self.op("subtract", other)

    def __mul__(self, other: Array | float) -> Array:
        return self.op("multiply", other)

    def __truediv__(self, other: Array | float) -> Array:
        return self.op("divide", other)

    def __neg__(self) -> Array:
        return self.op("negate")

    def __radd__(self, other: float) -> Array:
        return self.writer.number(float(other), self.dims).op("add", self)

    def __rsub__(self, other: float) -> Array:
        return self.writer.number(float(other), self.dims).op("subtract", self)

    def __rmul__(self, other: float) -> Array:
        return self.writer.number(float(other), self.dims).op("multiply", self)

    def __rtruediv__(self, other: float) -> Array:
        return self.writer.number(float(other), self.dims).op("divide", self)

    def part(self, start: int, end: int, step: int = 1) -> Array:
        """Returns a slice of a vector."""
        count = len(range(start, end, step))
        return self.op("slice", dims=str(count), rest=f", slice={{[{start}:{end}:{step}]}}")

    def scalar(self, index: int, dims: str) -> Array:
        """Returns one element of a vector in all elements of an array."""
        return self.part(index, index + 1).op("reshape", dims="").op("broadcast", dims=dims, rest=", dimensions={}")

    def rows(self, opcode: str = "add") -> Array:
        """Returns the sum or the maximum of each row of a matrix, in the matrix."""
        start = self.writer.number(float("-inf") if opcode == "maximum" else 0.0, "")
        count = self.dims.partition(",")[0]
        found = self.op("reduce", start, dims=count, rest=f", dimensions={{1}}, to_apply={opcode}")
        return found.op("broadcast", dims=self.dims, rest=", dimensions={0}")

    def converted(self, kind: str) -> Array:
        """Returns the elements in another type."""
        return self.op("convert", kind=kind)


def exp(x: Array) -> Array:
    return x.op("exponential")


def tanh(x: Array) -> Array:
    return x.op("tanh")


def sqrt(x: Array) -> Array:
    return x.op("sqrt")


def log(x: Array) -> Array:
    return x.op("log")


Formula = Callable[..., Array]


def module(formula: Formula, kind: str = "f32", inputs: tuple[str, ...] = ("64",)) -> Module:
    """Returns a formula as a module; `inputs` are the dimensions of its parameters."""
    writer = Writer(kind)
    parameters = [writer.make(f"parameter({number})", dims) for number, dims in enumerate(inputs)]
    found = formula(*parameters)
    writer.lines.append(f"ROOT r = {found.kind}[{found.dims}] copy({found.name})")
    regions = (_ADD + _MAX).replace("T[", f"{kind}[")
    body = "\n  ".join(writer.lines)
    return parse_bytes(f"HloModule m\n{regions}ENTRY e {{\n  {body}\n}}\n".encode(), "m.hlo")
