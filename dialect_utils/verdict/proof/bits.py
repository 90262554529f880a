"""Elements joined of narrower ones, and parts of elements, as arithmetic on whole numbers of their bits."""

from __future__ import annotations

from dialect_utils.layout import ELEMENT_TYPES, ElementType
from dialect_utils.verdict.proof.terms import Term, Terms
from dialect_utils.verdict.rules.arrays import PARTS_OF_BITS


def part_of_bits(terms: Terms, written: Term) -> Term:
    """Returns part i of an element's bits as `convert(x >> i * bits)`; unchanged if no integer type is as wide as x."""
    (whole,), kind = written.operands, written.array.element_type
    wide, narrow = _unsigned(whole.array.element_type), _unsigned(kind)
    assert isinstance(written.label, tuple)  # the position comes after the name
    if wide is None or narrow is None:
        return written
    count = terms.literal(wide, int(written.label[1]) * kind.bits, ())
    is_first = not terms.constant_bits(count)
    bits = _read_as_is(terms, whole, wide)
    shifted = bits if is_first else terms.each_as_is("shift-right-logical", wide, (bits, count))
    low = terms.each_as_is("convert", narrow, [shifted])
    terms.step(PARTS_OF_BITS, written, _read_as_is(terms, low, kind))
    value = terms.reread(whole, wide)
    value = value if is_first else terms.each("shift-right-logical", wide, (value, count))
    return terms.reread(terms.each("convert", narrow, [value]), kind)


def joined_bits(terms: Terms, written: Term) -> Term:
    """Returns joined elements as the `or` of `x_i << i * bits`; unchanged if no integer type is as wide."""
    kind, size = written.array.element_type, written.operands[0].array.element_type.bits
    wide, narrow = _unsigned(kind), _unsigned(written.operands[0].array.element_type)
    if wide is None or narrow is None:
        return written
    as_is, values = [], []
    for i, item in enumerate(written.operands):
        count = terms.literal(wide, i * size, ())
        plain = terms.each_as_is("convert", wide, [_read_as_is(terms, item, narrow)])
        as_is.append(terms.each_as_is("shift-left", wide, (plain, count)) if i else plain)
        value = terms.each("convert", wide, [terms.reread(item, narrow)])
        values.append(terms.each("shift-left", wide, (value, count)) if i else value)
    total = terms.each_as_is("or", wide, as_is)
    terms.step(PARTS_OF_BITS, written, _read_as_is(terms, total, kind))
    return terms.reread(terms.each("or", wide, values), kind)


def _unsigned(kind: ElementType) -> ElementType | None:
    """Returns the unsigned integer as wide as an integer or a float; None for other types."""
    is_number = kind.is_integral or kind.is_floating
    return ELEMENT_TYPES.get(f"u{kind.bits}") if is_number and not kind.is_complex else None


def _read_as_is(terms: Terms, term: Term, kind: ElementType) -> Term:
    is_same = term.array.element_type == kind
    return term if is_same else terms.each_as_is(("bitcast-convert", kind), kind, [term])
