"""Collective operations as terms, each array by itself; reductions of narrow types in a wider one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from dialect_utils.ir import Operation
from dialect_utils.layout import ELEMENT_TYPES, ArrayShape, ElementType, TupleShape
from dialect_utils.verdict.proof.terms import Array, Term, Tree
from dialect_utils.verdict.rules.arrays import PROMOTED, REDUCTIONS, promotion_level
from dialect_utils.verdict.terms.exchanges import Exchange, exchange_of, function_of, is_exchange, is_sum, trees
from dialect_utils.verdict.terms.primitives import leaves_of

if TYPE_CHECKING:
    from dialect_utils.verdict.proof.evaluation import Evaluation

_WORD_BITS = 32
_WIDE_FLOAT = ELEMENT_TYPES["f32"]


def exchange(evaluation: Evaluation, operation: Operation) -> Sequence[Tree]:
    """Returns the results of a collective operation, exchanged array by array, or of its start."""
    functions = [evaluation.function(called) for called in operation.called]
    if not is_exchange(operation) or any(has_effects for _, has_effects in functions):
        return evaluation.opaque(operation)
    # The functions have places of their own.
    evaluation.terms.place = operation
    operands = [evaluation.values[operand] for operand in operation.operands]
    arrays: list[Array] = [leaf for tree in operands for leaf in _arrays(tree)]
    applied, symbols = [function for function, _ in functions], evaluation.primitives
    if is_sum(operation):
        kind = symbols.element_type(arrays[0])
        applied = [function_of(evaluation.terms, evaluation.terms.each, "add", kind)]
    found = exchange_of(operation, evaluation.devices).results(symbols, arrays, partial(_made, evaluation, applied))
    return trees(operation, operands, found, evaluation.terms.unspecified)


def _arrays(tree: Tree) -> Iterator[Array]:
    return leaves_of(tree)


def _made(evaluation: Evaluation, applied: Sequence[Term], part: Exchange, given: Sequence[Array]) -> list[Array]:
    """Returns the results of one exchange; a reduction of narrow numbers in a wider type."""
    operands = [*map(evaluation.terms.term, given)]
    outs = _as_is(evaluation, part, operands, applied)
    if part.opcode not in REDUCTIONS or len(operands) != 1 or len(applied) != 1:
        return [*outs]
    return [_widened(evaluation, part, operands[0], applied[0], outs[0])]


def _as_is(evaluation: Evaluation, part: Exchange, operands: Sequence[Term], applied: Sequence[Term]) -> list[Term]:
    label = (part.key, len(operands), evaluation.devices, None)
    made = evaluation.terms.make("op", label, TupleShape(part.shapes), (*operands, *applied))
    return evaluation.outs(made, part.shapes)


def _widened(evaluation: Evaluation, part: Exchange, operand: Term, applied: Term, narrow: Term) -> Term:
    """Returns a reduction in the type that represents its element type and all narrower ones."""
    kind, terms, symbols = operand.array.element_type, evaluation.terms, evaluation.primitives
    wide, opcode = _wide(kind), symbols.combiner(applied, kind)
    is_kept = (terms.keeps_bits and kind.is_floating) or not operand.is_specified
    if wide is None or opcode is None or is_kept or promotion_level(opcode, kind, wide) is None:
        return narrow
    of_wide = replace(part, shapes=(ArrayShape(wide, narrow.array.dimensions),))

    def reduced(converted: Term, each: Callable[..., Term]) -> Term:
        function = function_of(terms, each, opcode, wide)
        (made,) = _as_is(evaluation, of_wide, [converted], [function])
        return made

    as_is = reduced(terms.each_as_is("convert", wide, [operand]), terms.each_as_is)
    terms.step(PROMOTED, narrow, terms.each_as_is("convert", kind, [as_is]))
    return terms.each("convert", kind, [reduced(terms.each("convert", wide, [operand]), terms.each)])


def _wide(kind: ElementType) -> ElementType | None:
    """Returns the type of 32 bits that holds every value of a narrower one, or None."""
    if kind.bits >= _WORD_BITS or kind.is_complex:
        return None
    if kind.is_integral:
        return ELEMENT_TYPES["s32" if kind.is_signed else "u32"]
    return _WIDE_FLOAT if kind.is_floating else None
