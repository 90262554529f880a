"""An attacker who knows the format: certificates for pairs of programs that differ, forged step by step.

`python -m tests.campaign_forge [COUNT]` forges COUNT certificates (20000) and prints a table; the exit code is 1 where
one is accepted for two programs with different values. A program is given as its term: the definitions, written down.
The values are those of the reference engine.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import islice

from dialect_utils.ir import Module
from dialect_utils.layout import ArrayShape, Shape
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.ops.domain import UndefinedError
from dialect_utils.text import DiagnosticError
from dialect_utils.verdict.certificate import Certificate, ReadTerm, Step, certificate_text, read_certificate
from dialect_utils.verdict.replay import replay
from dialect_utils.verdict.replay.check import _UNREADABLE, CHECKS, _checked, _close, _Merge, _of_one_shape
from dialect_utils.verdict.replay.elements import Elements
from dialect_utils.verdict.replay.equality import Equality, Level
from dialect_utils.verdict.rules import all_rules
from dialect_utils.verdict.terms.graph import Graph, Nodes
from dialect_utils.verdict.terms.primitives import Term
from dialect_utils.verdict.terms.wellformed import RefusedError
from tests.campaign_replay import Tally, proved as proved_by, unsound
from tests.rules.array_instances import INSTANCES, differing_inputs
from tests.verdict.proof.dialects import parse
from tests.verdict.replay.evaluated import differ
from tests.verdict.replay.varied import WRITTEN, parts, steps_of_proofs, varied

_COUNT = 20_000
# One in so many certificates is about a new instance of a rule; the others change known steps.
_FRESH = 25
# The most changed forms of one step, and of terms whose operands are compared.
_FORMS, _DEEPEST = 400, 3
_RULES = sorted({*(rule.name for rule in all_rules()), *CHECKS, "reduce", "window", "elements", "splat"})
# Two programs, and the steps of a certificate that they are equal.
Pair = tuple[Module, Module, list[Step]]
Way = Callable[[], "list[Step] | Pair"]


# Proved pairs of terms


def proved(steps: Sequence[Step]) -> list[tuple[Term, Term, Level]]:
    """Returns the pairs of terms of a certificate's steps that it proves equal, and in which equality.

    Raises RefusedError where a replay refuses a step.
    """
    graph = Graph()
    elements = Elements(Nodes(graph))
    try:
        merges = [_of_one_shape(graph, _checked(graph, elements, step)) for step in steps]
        sides = {side: graph.insert(side) for step in steps for side in (step.before, step.after)}
    except (UndefinedError, *_UNREADABLE) as error:
        raise RefusedError(str(error)) from error
    merges += [_Merge(Level.BITS, *pair) for pair in (*elements.nodes.folds, *elements.equal)]
    found: dict[tuple[Term, Term], Level] = {}
    equality: Equality | None = None
    for level in (Level.BITS, Level.NAN, Level.ORDER, Level.ENGINE):
        equality = Equality(graph, level, equality)
        _close(equality, merges)
        first: dict[int, Term] = {}
        for side, node in sides.items():
            other = first.setdefault(equality.find(node), side)
            if other is not side:
                found.setdefault((other, side), level)
    return [(*pair, level) for pair, level in found.items()]


def wrong(steps: Sequence[Step]) -> tuple[Term, Term] | None:
    """Returns two programs that a certificate proves equal although their values differ; None where there are none."""
    for first, second, level in proved(steps):
        if differ(first, second, is_exact=level <= Level.NAN):
            return first, second
    return None


# Attacks: each returns the steps of a forged certificate


@dataclass
class Attacker:
    """The true steps that an attacker knows, and the ways to change them."""

    rng: random.Random
    rules: Sequence[str] = ()
    known: dict[str, list[Step]] = field(default_factory=dict)
    terms: dict[Shape, list[Term]] = field(default_factory=dict)
    forms: dict[int, list[Step]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._learn([*WRITTEN, *(one for same in steps_of_proofs().values() for one in same)])

    def changed(self) -> list[Step]:
        """Changes a size, number, place, operand, type or operation of a true step by one."""
        return [self._form(self._true())]

    def changed_twice(self) -> list[Step]:
        """Changes a step in two or three places."""
        step = self._form(self._true())
        for _ in range(self.rng.choice((1, 1, 2))):
            *_, step = islice(varied(step), self.rng.randrange(1, _FORMS))
        return [step]

    def resized(self) -> list[Step]:
        """Gives an array other sizes of the same count, and lets movement of it begin with them."""
        step = self._true()
        moved = [each for each in parts(step.after, _DEEPEST) if isinstance(each.label, Plan)]
        if not moved:
            return self.changed()
        old = self.rng.choice(moved)
        after = _replaced(step.after, old, self._from_other_sizes(old))  # type: ignore[arg-type]  # read from a text
        return [replace(step, after=after)]

    def _from_other_sizes(self, moved: ReadTerm) -> ReadTerm:
        plan, (array, *scalars) = moved.label, moved.operands
        assert isinstance(plan, Plan)  # chosen by the caller
        sizes = [*plan.dimensions]
        self.rng.shuffle(sizes)
        shape = ArrayShape(plan.element_type, tuple(sizes))
        with suppress(ValueError, DiagnosticError):
            plan = Plan(plan.element_type, tuple(sizes), plan.steps, plan.paddings)
            return ReadTerm("moved", plan, ArrayShape(*plan.result), (replace(array, shape=shape), *scalars))
        return moved

    def other_rule(self) -> list[Step]:
        """Gives a true or changed step the name of another rule."""
        step = self.rng.choice((self._true(), self._form(self._true())))
        return [replace(step, rule=self.rng.choice(_RULES))]

    def other_terms(self) -> list[Step]:
        """Calls two terms of one shape equal that true steps call equal to other terms."""
        step = self._true()
        terms = self.terms[step.before.shape]
        return [replace(step, before=self.rng.choice((step.before, step.after)), after=self.rng.choice(terms))]

    def other_predicate(self) -> list[Step]:
        """Decides a changed step by cases of a truth value in it."""
        step = self._form(self._true())
        truths = [each for side in (step.before, step.after) for each in parts(side, _DEEPEST)]
        return [replace(step, rule="cases", predicate=self.rng.choice(truths))]

    def combined(self) -> list[Step]:
        """Joins a true step or a changed one, true steps of other proofs, and the elements of their terms."""
        source = self._true()
        form = self.rng.choice((self._form(source), source))
        steps = [form, source, self._true(), self._true()]
        sides = [side for step in steps for side in (step.before, step.after)]
        return [*steps, *(Step("elements", None, side, side) for side in sides)]

    def fresh(self) -> list[Step]:
        """Changes the steps of a new instance of a rule about arrays."""
        first, second, _ = self._instance()
        steps = _steps_of(first, second)
        self._learn(steps[:_FRESH])
        return [self._form(self.rng.choice(steps))] if steps else self.changed()

    def aimed(self) -> Pair:
        """Aims the steps of a true proof at another second program, with steps of a prover without scruples."""
        first, second, other = self._instance()
        true = _steps_of(first, second)
        with unsound():
            made = _steps_of(first, other)
        steps = [self._form(step) if self.rng.random() < 1 / 4 else step for step in made]
        found = (true, made, [*true, *made], steps, [*steps, self._true(), self._true()])
        return parse(first), parse(other), self.rng.choice(found)

    def _instance(self) -> tuple[str, str, str]:
        return INSTANCES[self.rng.choice([*INSTANCES])](random.Random(self.rng.randrange(1 << 30)))

    def _true(self) -> Step:
        return self.rng.choice(self.known[self.rng.choice([*self.known])])

    def _form(self, step: Step) -> Step:
        if id(step) not in self.forms:
            self.forms[id(step)] = [*varied(step)] or [step]
        return self.rng.choice(self.forms[id(step)])

    def _learn(self, steps: Sequence[Step]) -> None:
        for step in steps:
            if self.rules and step.rule not in self.rules:
                continue
            self.known.setdefault(step.rule, []).append(step)
            for side in (step.before, step.after):
                for part in parts(side, _DEEPEST):
                    self.terms.setdefault(part.shape, []).append(part)

    def attacks(self) -> Iterator[tuple[str, Way]]:
        """Yields attacks without an end."""
        often: list[Way] = [self.changed, self.changed, self.changed_twice, self.resized, self.other_rule]
        often += [self.other_terms, self.combined]
        seldom: list[Way] = [self.other_predicate, self.fresh, self.aimed]
        while True:
            for way in (*often * (_FRESH // len(often)), *seldom):
                yield way.__name__, way


def _replaced(term: ReadTerm, old: ReadTerm, new: ReadTerm) -> ReadTerm:
    """Returns a term with one of its parts replaced."""
    if term is old:
        return new
    found = tuple(_replaced(each, old, new) for each in term.operands)
    same = all(one is other for one, other in zip(found, term.operands, strict=True))
    return term if same else replace(term, operands=found)


def _steps_of(first: str, second: str) -> list[Step]:
    certificate = proved_by(parse(first), parse(second))
    return [] if certificate is None else [*read_certificate(certificate_text(certificate)).steps]


# The campaign


def said(forged: list[Step] | Pair) -> str:
    """Returns what becomes of a certificate: it is refused, proves nothing wrong, or proves what is wrong."""
    if isinstance(forged, list):
        try:
            return "true" if wrong(forged) is None else "wrong"
        except RefusedError:
            return "refused"
    first, second, steps = forged
    found = replay([first, second], Certificate(tuple(steps), ({}, {})))
    if not found.is_equal:
        return "refused" if found.refused else "not proved"
    return "true" if differing_inputs(first, second) is None else "wrong"


def campaign(count: int, seed: int, rules: Sequence[str] = ()) -> Tally:
    """Forges so many certificates, by steps of some rules or of all."""
    tally = Tally()
    for name, attack in islice(Attacker(random.Random(seed), rules).attacks(), count):
        forged = attack()
        word = said(forged)
        tally.found[name, word] += 1
        if word == "wrong":
            programs, steps = (
                ([], forged) if isinstance(forged, list) else ([each.text() for each in forged[:2]], forged[2])
            )
            text = certificate_text(Certificate(tuple(steps), ({}, {})))
            tally.wrong.append("\n".join([name, *programs, text]))
    return tally


def main(count: int) -> int:
    start = time.process_time()
    return campaign(count, 11).report(start)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else _COUNT))
