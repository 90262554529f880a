"""A map is the elementwise operations of its computation, on whole arrays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from dialect_utils.ir import Operation
from dialect_utils.verdict.proof.algebra.rule import Rule
from dialect_utils.verdict.proof.array_ops.operation import is_static, result_of
from dialect_utils.verdict.proof.terms import Array, Term
from dialect_utils.verdict.proof.trees import Tree, tree_of

if TYPE_CHECKING:
    from dialect_utils.verdict.proof.evaluation import Evaluation
    from dialect_utils.verdict.proof.terms import Terms

MAP = Rule("map", "A map whose computation is elementwise computes the same on whole arrays, element by element.")


def map_rule(evaluation: Evaluation, operation: Operation) -> Sequence[Tree] | None:
    """Applies a computation of scalars to the elements of arrays; None where it does more than compute with them."""
    if not is_static(operation) or len(operation.called) != 1:
        return None
    (function,) = operation.called
    terms, sizes = evaluation.terms, result_of(operation).dimensions
    arrays = [evaluation.term(operand) for operand in operation.operands]
    variables = evaluation.variables([parameter.shape.without_layout for parameter in function.parameters])
    leaves: Iterator[Array] = iter(variables)
    arguments = [tree_of(parameter.shape, leaves) for parameter in function.parameters]
    results, effects = evaluation.within(0, lambda: evaluation.run(function, arguments))
    if effects or len(results) != 1 or len(arrays) != len(variables):
        return None
    made = _on_arrays(terms, results[0], dict(zip(variables, arrays, strict=True)), sizes)
    if made is None:
        return None
    terms.note(MAP)
    return [made]


def _on_arrays(terms: Terms, scalar: Term, arrays: Mapping[Term, Term], sizes: tuple[int, ...]) -> Term | None:
    """Returns an expression of scalars with arrays in the place of its variables."""
    found = dict(arrays)
    parts: set[Term] = set()
    pending = [scalar]
    while pending:
        part = pending.pop()
        if part not in parts and part not in found:
            parts.add(part)
            pending += part.operands
    for part in sorted(parts, key=lambda part: part.number):
        if part.kind == "each":
            operands = [found[operand] for operand in part.operands]
            found[part] = terms.each(part.label, part.array.element_type, operands)
        elif part.kind == "constant":
            found[part] = terms.splat(part, sizes)
        else:
            return None
    return found[scalar]
