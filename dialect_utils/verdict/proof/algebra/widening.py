"""Operations on converted arrays as conversions of the operations, and convolutions in a narrower type."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from dialect_utils.layout import ELEMENT_TYPES, ArrayShape, ElementType, TupleShape
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.ops import BITWISE, EXTREMES
from dialect_utils.verdict.proof.algebra.matching import converted, source_type, unconverted
from dialect_utils.verdict.rules import Rule
from dialect_utils.verdict.rules.arrays import (
    CONVERTED_EXTREME,
    CONVERTED_MOVEMENT,
    CONVOLUTION_PRECISION,
    EXCESS_PRECISION,
    OPERAND_PRECISION,
    ROUNDED,
)
from dialect_utils.verdict.rules.formats import is_lossless

if TYPE_CHECKING:
    from dialect_utils.verdict.proof.terms import Term, Terms

# Names of steps; `terms` defines them, too, but imports this module.
MOVED, THROUGH = "moved", "through"
# The number of leading operands with elements (None: all); the other operands are positions.
_MOVED = {"concatenate": None, "dynamic-update-slice": 2}
_FACTORS = 2
# The type in which a TPU multiplies f32 at DEFAULT precision.
ROUNDED_TO = ELEMENT_TYPES["bf16"]


def all_unconverted(terms: Terms, arrays: Sequence[Term]) -> list[Term] | None:
    """Returns the operands if all arrays are lossless conversions from one narrower type, else None."""
    for array in arrays:
        source = source_type(array)
        if source is None:
            continue
        found = [unconverted(terms, source, each) for each in arrays]
        narrow = [each for each in found if each is not None]
        if len(narrow) == len(found):
            return narrow
    return None


def lifted(terms: Terms, made: Term) -> Term:
    """Returns reverse(convert(x)) as convert(reverse(x)), and so for all movement; any other term unchanged."""
    name = made.label[0] if made.kind == "op" and isinstance(made.label, tuple) else made.kind
    if name not in _MOVED and name != "moved":
        return made
    count = _MOVED.get(str(name)) or len(made.operands)
    narrow = all_unconverted(terms, made.operands[:count])
    if narrow is None:
        return made
    kind, wide = narrow[0].array.element_type, made.array.element_type
    label = made.label.retyped(kind) if isinstance(made.label, Plan) else made.label
    if isinstance(label, Plan) and label.regroups_bits:
        return made
    found = _remade(terms, made, label, kind, narrow)
    before = _remade(terms, made, made.label, wide, [converted(terms, wide, each) for each in narrow])
    terms.step(CONVERTED_MOVEMENT, before, converted(terms, wide, found))
    return terms.each("convert", wide, [found])


def _remade(terms: Terms, made: Term, label: Any, kind: ElementType, operands: Sequence[Term]) -> Term:
    """Returns an operation with a new element type, label and leading operands."""
    rest = made.operands[len(operands) :]
    return terms.make(made.kind, label, ArrayShape(kind, made.array.dimensions), (*operands, *rest))


def narrowed(
    terms: Terms, function: Term, parameters: Sequence[ElementType], results: Sequence[ElementType]
) -> Term | None:
    """Returns the function g of narrower types with f(convert(x)) = convert(g(x)), or None where none is known.

    `parameters` and `results` are the types of g. Results whose type does not change are not converted.
    """
    label: Any = function.label
    _, level, shapes, count = label
    kinds = [shape.element_type for shape in shapes if isinstance(shape, ArrayShape) and not shape.dimensions]
    if len(function.operands) != count or len(kinds) != len(parameters) or len(results) != count:
        return None
    found: dict[Term, Term] = {}
    plain = tuple(ArrayShape(kind, ()) for kind in parameters)
    for number, (shape, wide) in enumerate(zip(plain, kinds, strict=True)):
        variable = terms.make("leaf", ("bound", level, number), shape)
        found[terms.make("leaf", ("bound", level, number), ArrayShape(wide, ()))] = (
            variable if shape.element_type == wide else terms.each("convert", wide, [variable])
        )
    made = [terms.substituted(each, found) for each in function.operands]
    body = [
        each if each.shape == ArrayShape(kind, ()) else unconverted(terms, kind, each)
        for each, kind in zip(made, results, strict=True)
    ]
    known = [each for each in body if each is not None]
    return None if len(known) < count else terms.make("op", ("function", level, plain, count), TupleShape(()), known)


def of_extreme(terms: Terms, opcode: str, made: Term) -> Term | None:
    """Returns the narrower reduction whose conversion a maximum, minimum or bitwise reduction is, else None."""
    narrow = all_unconverted(terms, made.operands) if opcode in EXTREMES | BITWISE else None
    if narrow is None:
        return None
    kind, wide = narrow[0].array.element_type, made.array.element_type
    is_alike = kind.is_integral == wide.is_integral and kind.name != "pred"
    if not is_alike or not (opcode in EXTREMES or kind.is_integral):
        return None
    before = _remade(terms, made, made.label, wide, [converted(terms, wide, each) for each in narrow])
    found = _remade(terms, made, made.label, kind, narrow)
    terms.step(CONVERTED_EXTREME, before, converted(terms, wide, found))
    return found


def of_operands(terms: Terms, product: Term) -> Term:
    """Returns a product at DEFAULT precision with its operands of f32 in bf16, if a TPU may round them."""
    label: Any = product.label
    factors, rest = product.operands[:_FACTORS], product.operands[_FACTORS:]
    names = {each.array.element_type.name for each in factors}
    is_open = terms.strategy.rounds_operands and product.array.element_type.is_floating and label[-1] == ()
    if not is_open or not {"f32"} <= names <= {"f32", ROUNDED_TO.name}:
        return product
    plain = [each if each.array.element_type == ROUNDED_TO else converted(terms, ROUNDED_TO, each) for each in factors]
    terms.step(OPERAND_PRECISION, product, terms.make("op", label, product.shape, (*plain, *rest)))
    made = [terms.each("convert", ROUNDED_TO, [each]) for each in factors]
    return terms.make("op", label, product.shape, (*made, *rest))


def of_factors(terms: Terms, made: Term) -> Term:
    """Returns convolution(convert(x), convert(y)) as convolution(x, y), if the engine chooses the precision."""
    if not _is_open(made) or not made.array.element_type.is_floating:
        return made
    inner = [_narrowest(each) for each in made.operands[:_FACTORS]]
    if inner == [*made.operands[:_FACTORS]] or not terms.may_choose():
        return made
    found = _remade(terms, made, made.label, made.array.element_type, inner)
    terms.step(CONVOLUTION_PRECISION, made, found)
    return found


def _narrowest(factor: Term) -> Term:
    if factor.kind == "each" and factor.label == "convert":
        (inner,) = factor.operands
        if inner.array.element_type.is_floating and is_lossless(inner.array.element_type, factor.array.element_type):
            return inner
    return factor


def _is_open(made: Term) -> bool:
    """Is true for a convolution of floats whose precision the engine chooses."""
    label: Any = made.label
    if made.kind != "op" or not isinstance(label, tuple) or label[0] != "convolution" or label[-1] != ():
        return False
    return all(each.array.element_type.is_floating for each in made.operands[:_FACTORS])


def rounded(terms: Terms, element_type: ElementType, operand: Term) -> Term | None:
    """Returns convert(sum of wide terms) as a narrow sum, if the engine chooses the precision, else None."""
    wide = operand.array.element_type
    if not element_type.is_floating or not wide.is_floating or not is_lossless(element_type, wide):
        return None
    chain = terms.chain(operand)
    base, plan = chain.base, chain.plan
    if plan.regroups_bits:
        return None
    if plan.adds_elements:
        return _padded(terms, element_type, operand) if operand.is_specified else None
    if base.kind != "op":
        return None
    pair = _in_narrow(terms, element_type, base)
    if pair is None or not terms.may_choose():
        return None
    rule, found, before = pair
    terms.step(rule, before, found)
    there = plan.retyped(element_type)
    if plan.steps:
        moved = terms.moved_as_is(converted(terms, element_type, base), there)
        terms.certify(THROUGH, moved, converted(terms, element_type, terms.moved_as_is(base, plan)))
    after = terms.chain(found).then(there)
    terms.certify(MOVED, terms.moved_as_is(found, there), terms.as_written(after))
    return terms.term(after)


def _padded(terms: Terms, element_type: ElementType, operand: Term) -> Term:
    """Returns convert(pad(x, c)) as pad(convert(x), convert(c))."""
    chain = terms.chain(operand)

    def moved(conversion: Callable[[Terms, ElementType, Term], Term]) -> tuple[Term, Plan]:
        base, *paddings = (
            None if each is None else conversion(terms, element_type, each)  # type: ignore[arg-type]
            for each in (chain.base, *chain.plan.paddings)
        )
        assert base is not None
        return base, replace(chain.plan.retyped(element_type), paddings=tuple(paddings))

    terms.step(CONVERTED_MOVEMENT, terms.moved_as_is(*moved(converted)), converted(terms, element_type, operand))
    base, plan = moved(lambda _, kind, each: terms.each("convert", kind, [each]))
    after = terms.chain(base).then(plan)
    terms.certify(MOVED, terms.moved_as_is(base, plan), terms.as_written(after))
    return terms.term(after)


def _in_narrow(terms: Terms, element_type: ElementType, base: Term) -> tuple[Rule, Term, Term] | None:
    """Returns the rule, the sum in the narrower type, and the equal converted sum."""
    label: Any = base.label
    if _is_open(base):
        found = _remade(terms, base, label, element_type, ())
        return CONVOLUTION_PRECISION, found, converted(terms, element_type, base)
    if label[0] not in ("reduce", "reduce-window") or label[1] not in ROUNDED:
        return None
    narrow = [unconverted(terms, element_type, each) for each in base.operands]
    if any(each is None for each in narrow):
        return None
    plain = [each for each in narrow if each is not None]
    wide = base.array.element_type
    before = _remade(terms, base, label, wide, [converted(terms, wide, each) for each in plain])
    found = _remade(terms, base, label, element_type, plain)
    return EXCESS_PRECISION, found, converted(terms, element_type, before)
