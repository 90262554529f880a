"""Random elementwise expressions, evaluated twice on one graph: in normal form, and as they are written."""

from __future__ import annotations

import random
from dataclasses import dataclass

import pytest

from dialect_utils.verdict.proof.rewriter import Rewriter
from dialect_utils.verdict.proof.terms import Term, Terms
from dialect_utils.verdict.replay.check import CHECKS
from dialect_utils.verdict.replay.scalars import check_scalar
from dialect_utils.verdict.terms.walker import walk
from tests.expression_classes import Source
from tests.verdict.proof import expressions as ex
from tests.verdict.proof.dialects import parse
from tests.verdict.replay.closure import Closure

Step = tuple[str, Term, Term]


@dataclass(frozen=True)
class Evaluated:
    """The steps of a proof, and for each expression the term as it is written and the normal form."""

    steps: list[Step]
    pairs: list[tuple[Term, Term]]

    def unchecked(self) -> list[Step]:
        """Returns the steps that the replay rejects."""
        return [step for step in self.steps if check_scalar(*step) is None]

    def missing(self) -> list[tuple[Term, Term]]:
        """Returns the pairs that do not follow from the steps that the replay accepts."""
        closure = Closure()
        for pair in self.pairs:
            for term in pair:
                closure.add(term)
        for rule, before, after in self.steps:
            if check_scalar(rule, before, after) is not None:
                closure.merge(before, after)
        return [pair for pair in self.pairs if not closure.same(*pair)]


def evaluated(kind: str, seed: int, count: int) -> Evaluated:
    """Returns the steps and terms of random expressions over inputs of a type."""
    source = Source(random.Random(f"{kind} {seed}"), kind)
    roots = [*source.leaves[kind], *source.expressions(count)]
    return of_module(ex.module(*roots, parameters=source.parameters))


def of_module(text: str) -> Evaluated:
    """Returns the steps and terms of a module's results."""
    terms, found = Terms(), []
    module = parse(text)
    inputs = [
        terms.make("leaf", ("parameter", i), p.shape.without_layout) for i, p in enumerate(module.entry.parameters)
    ]
    with pytest.MonkeyPatch.context() as patch:
        for make in (Terms.each, Terms.each_as_is):
            patch.setattr(Terms, "each", make)
            results, _ = walk(Rewriter(terms), module, inputs)
            found.append([*map(terms.term, results)])
    steps = [(rule, before, after) for rule, before, after, *_ in terms.steps if rule not in CHECKS]
    return Evaluated(steps, [*zip(*found, strict=True)])
