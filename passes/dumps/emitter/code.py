"""HLO computations under construction: values, folded constants, and captures of outer values.

A program becomes text, not instructions of a module, because the computation of a loop or branch is complete before the
computation that calls it. Equal instructions are written once; unused ones are omitted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from dialect_utils.layout import ELEMENT_TYPES, ElementType

PRED, S32, U32, F32 = (ELEMENT_TYPES[name] for name in ("pred", "s32", "u32", "f32"))

Number = int | float | bool
Dims = tuple[int, ...]


@dataclass(frozen=True, eq=False, slots=True)
class Val:
    """One value of a computation: an instruction, or a constant (`known`: every element) without an instruction."""

    kind: ElementType
    dims: Dims
    name: str = ""
    owner: Code | None = None
    known: Number | None = None

    def __str__(self) -> str:
        return f"{self.kind}[{','.join(map(str, self.dims))}]"


def constant(kind: ElementType, value: Number, dims: Sequence[int] = ()) -> Val:
    """Returns an array of equal numbers."""
    return Val(kind, tuple(dims), known=wrapped(kind, value))


def index(value: int) -> Val:
    """Returns a scalar index."""
    return Val(S32, (), known=value)


def wrapped(kind: ElementType, value: Number) -> Number:
    """Returns a number converted to a type: integers wrap around, `pred` gives a bool."""
    if kind == PRED:
        return bool(value)
    if not kind.is_integral:
        return float(value)
    bits = int(value) & ((1 << kind.bits) - 1)
    return bits - (1 << kind.bits) if kind.is_signed and bits >> (kind.bits - 1) else bits


def literal(kind: ElementType, value: Number) -> str:
    """Returns a number as HLO text; reading a float gives the same bits."""
    if kind == PRED:
        return "true" if value else "false"
    # `repr` writes nan, inf and -inf as HLO does.
    text = str(int(value)) if kind.is_integral else repr(float(value))
    return f"({text}, 0)" if kind.is_complex else text


@dataclass(slots=True)
class Program:
    """The computations of one program by name, each after those that it calls."""

    name: str
    texts: dict[str, str] = field(default_factory=dict)
    names: set[str] = field(default_factory=set)
    # The values of a scalar on each device, if known, e.g. the number of another device.
    by_device: dict[Val, tuple[int, ...]] = field(default_factory=dict)

    def fresh(self, name: str) -> str:
        """Returns an unused name for a computation."""
        found, count = name, 1
        while found in self.names:
            found, count = f"{name}.{count}", count + 1
        self.names.add(found)
        return found

    def scalar_computation(self, opcode: str, kind: ElementType) -> str:
        """Returns the name of a computation of two scalars, for reduce."""
        name = f"{self.name}.{opcode}.{kind}"
        if name not in self.texts:
            self.names.add(name)
            body = f"p = {kind}[] parameter(0)\n  q = {kind}[] parameter(1)\n  ROOT r = {kind}[] {opcode}(p, q)"
            self.texts[name] = f"%{name} {{\n  {body}\n}}"
        return name


@dataclass(frozen=True, slots=True)
class Update:
    """A dynamic-update-slice: `base` with a part replaced."""

    base: Val
    part: Val
    starts: tuple[Val, ...]


@dataclass(frozen=True, slots=True)
class _Line:
    text: str
    operands: tuple[str, ...]


class Code:
    """One computation, with parameters or with one tuple parameter that grows with every captured outer value."""

    def __init__(self, program: Program, name: str, parent: Code | None = None) -> None:
        self.program = program
        self.name = program.fresh(name)
        self.parent = parent
        # The dynamic-update-slice that computes an array.
        self.updates: dict[Val, Update] = {}
        self.elements: list[Val] = []  # the types of the tuple's elements
        # The outer values in the tuple, in the order of its elements, and the elements.
        self.captured: dict[Val, Val] = {}
        self._lines: dict[str, _Line] = {}
        self._written: dict[str, Val] = {}
        self._parameters: list[str] = []

    def inner(self, name: str) -> Code:
        """Returns a nested computation, whose state grows with the values that it captures."""
        return Code(self.program, f"{self.program.name}.{name}", self)

    def emit(
        self, opcode: str, kind: ElementType, dims: Sequence[int], operands: Sequence[Val] = (), attributes: str = ""
    ) -> Val:
        """Writes one instruction, or returns an equal one."""
        return self._write(kind, dims, opcode, self.names(operands), attributes)

    def _write(
        self,
        kind: ElementType,
        dims: Sequence[int],
        opcode: str,
        names: Sequence[str],
        attributes: str,
        inner: str = "",
    ) -> Val:
        shape = f"{kind}[{','.join(map(str, dims))}]"
        text = f"{shape} {opcode}({inner or ', '.join(names)}){attributes}"
        found = self._written.get(text)
        if found is None:
            found = Val(kind, tuple(dims), self._fresh(opcode), self)
            self._written[text] = found
            self._lines[found.name] = _Line(text, tuple(names))
        return found

    def emit_tuple(self, opcode: str, results: Sequence[Val], operands: Sequence[str], attributes: str) -> list[Val]:
        """Writes an instruction whose result is a tuple; returns the elements."""
        shape = f"({', '.join(map(str, results))})"
        name = self._fresh(opcode)
        self._lines[name] = _Line(f"{shape} {opcode}({', '.join(operands)}){attributes}", tuple(operands))
        return [self._write(r.kind, r.dims, "get-tuple-element", [name], f", index={i}") for i, r in enumerate(results)]

    def tuple(self, values: Sequence[Val]) -> str:
        """Writes a tuple and returns its name."""
        name = self._fresh("tuple")
        names = self.names(values)
        self._lines[name] = _Line(f"({', '.join(map(str, values))}) tuple({', '.join(names)})", tuple(names))
        return name

    def parameter(self, kind: ElementType, dims: Sequence[int]) -> Val:
        """Adds a parameter."""
        number = len(self._parameters)
        found = Val(kind, tuple(dims), f"p{number}", self)
        self._parameters.append(f"{found.name} = {found} parameter({number})")
        return found

    def element(self, like: Val) -> Val:
        """Adds an element to the computation's tuple parameter."""
        number = len(self.elements)
        self.elements.append(like)
        return self._write(like.kind, like.dims, "get-tuple-element", ["state"], f", index={number}")

    def names(self, values: Iterable[Val]) -> list[str]:
        """Returns the names of values in this computation, which writes constants and captures outer values."""
        return [self.name_of(value) for value in values]

    def name_of(self, value: Val) -> str:
        """Returns the name of a value in this computation."""
        return self.local(value).name

    def local(self, value: Val) -> Val:
        """Returns a value as an instruction of this computation."""
        if value.known is not None:
            scalar = self._write(value.kind, (), "constant", (), "", literal(value.kind, value.known))
            return self.emit("broadcast", value.kind, value.dims, [scalar], ", dimensions={}") if value.dims else scalar
        if value.owner is self:
            return value
        if value not in self.captured:
            self.captured[value] = self.element(value)
        return self.captured[value]

    def literal_array(self, kind: ElementType, dims: Sequence[int], elements: Sequence[Number]) -> Val:
        """Writes an array of constants, in row-major order."""

        def nested(start: int, count: int, rest: Sequence[int]) -> str:
            if not rest:
                return literal(kind, wrapped(kind, elements[start]))
            part = count // rest[0]
            return "{" + ",".join(nested(start + i * part, part, rest[1:]) for i in range(rest[0])) + "}"

        return self._write(kind, dims, "constant", (), "", nested(0, len(elements), dims))

    def _fresh(self, opcode: str) -> str:
        return f"{opcode}.{len(self._lines)}"

    def finish(self, results: Sequence[Val], *, as_tuple: bool = True) -> None:
        """Ends the computation with its results and adds its text to the program."""
        root = self.tuple(results) if as_tuple else self.name_of(self._fresh_copy(results[0]))
        live = self._live(root)
        lines = list(self._parameters)
        if self.parent is not None:
            lines.append(f"state = ({', '.join(map(str, self.elements))}) parameter(0)")
        lines += [f"{name} = {line.text}" for name, line in self._lines.items() if name in live and name != root]
        lines.append(f"ROOT {root} = {self._lines[root].text}")
        self.program.texts[self.name] = f"%{self.name} {{\n" + "".join(f"  {line}\n" for line in lines) + "}"

    def _fresh_copy(self, value: Val) -> Val:
        """Returns a value as an instruction that can be the ROOT: a copy of a parameter."""
        local = self.local(value)
        return local if local.name in self._lines else self.emit("copy", local.kind, local.dims, [local])

    def _live(self, root: str) -> set[str]:
        waiting, live = [root], {root}
        while waiting:
            line = self._lines.get(waiting.pop())
            for name in line.operands if line is not None else ():
                if name not in live:
                    live.add(name)
                    waiting.append(name)
        return live


def while_loop(
    code: Code,
    initial: Sequence[Val],
    step: Callable[[Code, list[Val]], Sequence[Val]],
    goes_on: Callable[[Code, list[Val]], Val],
) -> list[Val]:
    """Builds a loop over a state; returns the final state.

    `step` makes the body and returns the next state, `goes_on` makes the condition. Both may use values of `code`,
    which become further elements of the state.
    """
    body = code.inner("body")
    following = step(body, [body.element(value) for value in initial])
    condition = code.inner("condition")
    tested = [condition.element(value) for value in initial]
    # Both computations have the same state: the condition gets the elements that the body captured, and vice versa.
    for value in body.captured:
        condition.local(value)
    answer = goes_on(condition, tested)
    for value in list(condition.captured):
        body.local(value)
    body.finish([*following, *(body.local(value) for value in body.captured)])
    condition.finish([answer], as_tuple=False)
    whole = [*initial, *body.captured]
    made = code.emit_tuple("while", whole, [code.tuple(whole)], f", condition=%{condition.name}, body=%{body.name}")
    return made[: len(initial)]
