"""Equations about whole arrays, instantiated as terms, which the replay compares, and as programs to execute."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import product

from dialect_utils.hlo.text.literals import format_scalar
from dialect_utils.layout import ELEMENT_TYPES, ArrayShape, ElementType, Reshape
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.ops.window import WindowDimension
from dialect_utils.verdict.proof.terms import Term, Terms
from dialect_utils.verdict.rules import Equation, Pattern, Rule, all_rules
from dialect_utils.verdict.rules.formats import word_bits
from dialect_utils.verdict.rules.pattern import element_type
from tests.rules.array_instances import differing_inputs
from tests.verdict.proof import expressions as ex
from tests.verdict.proof.dialects import parse
from tests.verdict.proof.equations import is_valid
from tests.verdict.proof.expressions import E

Sizes = tuple[int, ...]
RULES = [rule for rule in all_rules() if not rule.is_elementwise]
_KINDS = ("pred", "s8", "u8", "s32", "bf16", "f32", "f64", "f8e4m3fn")
# The sizes of the result of each operation; the operands of most have sizes of their own.
_RESULTS: Mapping[str, Sizes] = {
    "any-order": (3,),
    "choice": (3,),
    "convolution": (1, 1, 3, 2),
    "dot": (1, 2, 2),
    "reduce": (2,),
    "reduce-window": (2,),
}
_OPERANDS: Mapping[str, tuple[Sizes, ...]] = {
    "choice": ((), (3,), (3,)),
    "convolution": ((1, 1, 4, 3), (1, 1, 2, 2)),
    "dot": ((1, 2, 3), (1, 2, 3)),
    "reduce-window": ((3,), ()),
    "repeat": ((),),
}
_VARIABLES = {name: number for number, name in enumerate("xypqab")}
_WORDS = {"padded": True, "skipped": False, "DEFAULT": ()}
_WINDOW = (WindowDimension(2),)


@dataclass(frozen=True)
class Instance:
    """An equation over given types."""

    equation: Equation
    types: Mapping[str, ElementType]

    @property
    def sizes(self) -> Sizes:
        """Returns the sizes of both sides."""
        names = [part.name for side in (self.equation.left, self.equation.right) for part in side.parts()]
        return next(_RESULTS[name] for name in names if name in _RESULTS)

    def of_operands(self, pattern: Pattern, sizes: Sizes) -> tuple[Sizes, ...]:
        """Returns the sizes of the operands of an operation; a reshaped array has one element a row."""
        parts = [part.name for side in (self.equation.left, self.equation.right) for part in side.parts()]
        count = 1 if "reshape" in parts else 0 if "empty" in parts else 3
        if pattern.name == "reduce":
            return (*sizes, count), ()
        if pattern.name == "reshape":
            return ((*sizes, 1),)
        return _OPERANDS.get(pattern.name, (sizes,) * len(pattern.operands))

    def kind(self, pattern: Pattern) -> ElementType:
        """Returns the type of a part."""
        found = element_type(pattern.type, self.types)
        assert found is not None  # the types of all names are chosen
        return found

    def bits(self, pattern: Pattern) -> int:
        """Returns the bits of a number."""
        found = word_bits(self.kind(pattern), pattern.name)
        assert found is not None  # so instances are chosen
        return found

    def term(self, terms: Terms, pattern: Pattern, sizes: Sizes, other_field: str = "") -> Term:
        """Returns a part as a term in the form of the definitions; fields with a name are `other_field` if given."""
        kind, shape = self.kind(pattern), ArrayShape(self.kind(pattern), sizes)
        if pattern.kind in ("variable", "empty"):
            return terms.make("leaf", pattern.name, shape)
        if pattern.kind == "number":
            return terms.literal(kind, self.bits(pattern), sizes)
        pairs = zip(pattern.operands, self.of_operands(pattern, sizes), strict=True)
        operands = [self.term(terms, *each, other_field) for each in pairs]
        match pattern.name:
            case "repeat":
                return terms.splat(operands[0], sizes)
            case "reshape":
                plan = Plan(kind, operands[0].array.dimensions, (Reshape(sizes),))
                return terms.moved_as_is(operands[0], plan)
            case "as" if operands[0].array.element_type == kind:
                return operands[0]
            case "choice":
                return terms.make("choice", None, shape, operands)
        if pattern.kind == "each" or pattern.name == "as":
            label = "convert" if pattern.name == "as" else pattern.label(self.types)
            return terms.each_as_is(label, kind, operands)
        return terms.make("op", (pattern.name, *_fields(pattern, other_field)), shape, operands)

    def expression(self, pattern: Pattern, sizes: Sizes) -> E:
        """Returns a part as an expression of a program."""
        kind = self.kind(pattern).name
        if pattern.kind in ("variable", "empty"):
            return _parameter(_VARIABLES.get(pattern.name, 0), kind, sizes)
        if pattern.kind == "number":
            return ex.full(kind, format_scalar(self.kind(pattern), self.bits(pattern)), sizes)
        pairs = zip(pattern.operands, self.of_operands(pattern, sizes), strict=True)
        operands = [self.expression(*each) for each in pairs]
        if pattern.name in ("as", "convert"):
            return operands[0] if operands[0].type == kind else ex.convert(operands[0], kind)
        make = _PROGRAMS.get(pattern.name)
        return E(pattern.name, kind, sizes, tuple(operands)) if make is None else make(pattern, kind, sizes, *operands)


def _fields(pattern: Pattern, other: str) -> Iterator[Hashable]:
    """Yields the fields of a label; a name stands for some field, or for the other one."""
    for name in pattern.fields:
        if name == "*":
            yield from (_WINDOW, other or True) if pattern.name == "reduce-window" else (other or "add",)
        else:
            yield other if other and len(name) == 1 else _WORDS.get(name, name)


@cache
def _parameter(number: int, kind: str, sizes: Sizes) -> E:
    """Returns a parameter; the same one for both sides."""
    return ex.parameter(number, kind, sizes)


def _reduced(pattern: Pattern, kind: str, sizes: Sizes, x: E, initial: E) -> E:
    opcode, *_ = ("add",) if pattern.fields == ("*",) else pattern.fields
    if pattern.name == "reduce":
        return ex.reduce(opcode, x, initial, [1])
    return E("reduce-window", kind, sizes, (x, initial), f"window={{size=2}}, to_apply={opcode}_{kind}")


def _dot(pattern: Pattern, kind: str, sizes: Sizes, a: E, b: E) -> E:
    made = ex.dot(a, b, ([2], [2]), ([0], [0]))
    return E("dot", kind, sizes, made.operands, made.attributes)


def _convolution(pattern: Pattern, kind: str, sizes: Sizes, a: E, b: E) -> E:
    made = ex.convolution(a, b, sizes, "size=2x2")
    return E("convolution", kind, sizes, made.operands, made.attributes)


_PROGRAMS: Mapping[str, Callable[..., E]] = {
    "convolution": _convolution,
    "dot": _dot,
    "reduce": _reduced,
    "reduce-window": _reduced,
    "repeat": lambda pattern, kind, sizes, scalar: ex.broadcast(scalar, sizes),
    "reshape": lambda pattern, kind, sizes, array: ex.reshape(array, sizes),
}
# A scan, a conditional and both dialects' padding are programs of their own: test_array_rules.py executes them.
_NO_PROGRAMS = ("any-order", "choice", "padded")


def has_programs(equation: Equation) -> bool:
    """Is true where both sides of an equation can be written as programs of one dialect."""
    parts = [*equation.left.parts(), *equation.right.parts()]
    return not any(name in _NO_PROGRAMS for part in parts for name in (part.name, *part.fields))


def instances(equation: Equation) -> list[Instance]:
    """Returns the instances of an equation over some types that the guard allows."""
    parts = [*equation.left.parts(), *equation.right.parts()]
    names = sorted({part.type for part in parts if part.type not in ELEMENT_TYPES})
    found = (
        dict(zip(names, (ELEMENT_TYPES[each] for each in kinds), strict=True))
        for kinds in product(_KINDS, repeat=len(names))
    )
    return [
        Instance(equation, types)
        for types in found
        if equation.holds(types, {}) and all(is_valid(part, types) for part in parts)
    ]


def programs(one: Instance) -> tuple[str, str]:
    """Returns both sides of an instance as modules."""
    sides = [one.expression(each, one.sizes) for each in (one.equation.left, one.equation.right)]
    parameters = ex.parameters_of(*sides)
    first, second = (ex.module(side, parameters=parameters) for side in sides)
    return first, second


def differs(one: Instance) -> bool:
    """Is true for an instance whose sides differ by the definitions, on small integers, whose sums are exact."""
    first, second = map(parse, programs(one))
    return differing_inputs(first, second) is not None


def check(rule: Rule) -> tuple[int, list[str], int]:
    """Returns how many instances of a rule there are, those that differ, and how many of the wrong ones do."""
    found = [each for equation in rule.equations if has_programs(equation) for each in _executed(equation)]
    failed = [f"{each.equation.text} {dict(each.types)}" for each in found if differs(each)]
    wrong = [each for text in rule.wrong if has_programs(Equation(text)) for each in _executed(Equation(text))]
    return len(found), failed, sum(map(differs, wrong))


def _executed(equation: Equation) -> Iterator[Instance]:
    """Yields the instances with operands of one type, as programs of both dialects have."""
    for each in instances(equation):
        if len({each.types[name] for name in "TAB" if name in each.types}) == 1:
            yield each
