"""Replayed proofs: an output is `equal` only if a replay of the certificate confirms it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import inf
from typing import TYPE_CHECKING

from dialect_utils.ir import Module
from dialect_utils.layout.proof.deadline import DeadlineError, deadline
from dialect_utils.ops import Trait, has
from dialect_utils.ops.sharding import Partition
from dialect_utils.verdict.certificate import Certificate, Excluded, without_chlo
from dialect_utils.verdict.outcome import OutputProof
from dialect_utils.verdict.proof import ProofResult, try_prove
from dialect_utils.verdict.proof.decide import conditional_proofs, quick_strategies
from dialect_utils.verdict.rules import all_rules
from dialect_utils.verdict.terms.given import Sources
from dialect_utils.verdict.terms.primitives import Term

if TYPE_CHECKING:
    from dialect_utils.verdict.replay import Replayed

# The most conditions on data whose need is tried.
_MOST_DROPPED = 16
_NO_REPLAY = "internal error: the proof does not replay, so it counts as none"


def prove(
    stages: Sequence[Module],
    *,
    over_reals: bool = False,
    field_seed: int | None = None,
    seconds: float = inf,
    partition: Partition | None = None,
    rounds_operands: bool = False,
) -> ProofResult:
    """Decides whether modules are equal, as `try_prove` does, and keeps only results that a replay confirms.

    The replay shares with the proof only the walk from modules to terms, the definitions of operations, the layout
    algebra and the rules.
    With `rounds_operands` a product at DEFAULT precision may have its operands in bf16.
    The answer is `unknown` if search and replay together take more than `seconds` of this process's CPU time.
    """
    try:
        with deadline(seconds):
            for strategy in quick_strategies(stages, rounds_operands=rounds_operands):
                found = _replayed(stages, try_prove(stages, partition=partition, strategy=strategy), partition)
                if found.answer == "equal":
                    return found
            found = try_prove(stages, over_reals=over_reals, field_seed=field_seed, partition=partition)
            return _replayed(stages, found, partition)
    except DeadlineError:
        return ProofResult("unknown", f"no proof within {seconds:.3g} seconds of computation")


def has_narrow_operands(modules: Sequence[Module]) -> bool:
    """Is true where one of the modules is an optimized dump that multiplies numbers in bf16."""
    if not any(has(each.opcode, Trait.CONTRACTS) for module in modules for each in module.operations()):
        return False
    from dialect_utils.verdict.rounding.operands import narrow_operands

    return any(map(narrow_operands, modules))


def _replayed(stages: Sequence[Module], found: ProofResult, partition: Partition | None = None) -> ProofResult:
    """Replays the certificate of a proof; raises DeadlineError after the deadline."""
    if found.answer != "equal" and not any(each.is_equal for each in found.outputs):
        return found
    from dialect_utils.verdict.replay import replay

    replayed = replay(stages, found.certificate or Certificate((), ({}, {}), partition=partition))
    if found.answer == "equal" and not replayed.is_equal:
        # The proof has changed the bits of a NaN before an operation that observes them.
        exact = try_prove(stages, keeps_bits=True, partition=partition)
        again = None if exact.certificate is None else replay(stages, exact.certificate)
        if exact.answer == "equal" and again is not None and again.is_equal:
            found, replayed = exact, again
    refusal = replayed.obstacle or _NO_REPLAY
    outputs = tuple(_confirmed(each, replayed, refusal) if each.is_equal else each for each in found.outputs)
    has_equal_effects = found.has_equal_effects and replayed.effects is not None
    if found.answer != "equal" or (has_equal_effects and all(each.is_equal for each in outputs)):
        return replace(found, outputs=outputs, has_equal_effects=has_equal_effects)
    reason = ": ".join(filter(None, [refusal, replayed.refused]))
    return replace(found, answer="unknown", reason=reason, outputs=outputs, has_equal_effects=has_equal_effects)


def _confirmed(output: OutputProof, replayed: Replayed, refusal: str) -> OutputProof:
    """Returns the proof of an output with the engine's choices, or an unproved result if the replay rejects it."""
    if replayed.outputs[output.output] is None:
        return OutputProof(output.output, is_equal=False, reason=refusal)
    return replace(output, choices=replayed.choices(output.output))


def prove_conditionally(
    stages: Sequence[Module], seconds: float = inf
) -> tuple[ProofResult, tuple[Excluded, ...]] | None:
    """Returns a proof that modules are equal for data without some values, and the conditions, as few as possible."""
    from dialect_utils.verdict.replay import replay

    forms = without_chlo(stages)
    try:
        with deadline(seconds):
            for found in conditional_proofs(forms):
                certificate = replace(found.certificate or Certificate((), ({}, {})), is_decomposed=forms is not stages)
                if not (replayed := replay(stages, certificate)).is_equal:
                    continue
                for condition in certificate.conditions[:_MOST_DROPPED]:
                    fewer = _without(certificate, condition)
                    if (again := replay(stages, fewer)).is_equal:
                        certificate, replayed = fewer, again
                outputs = tuple(_confirmed(each, replayed, _NO_REPLAY) for each in found.outputs)
                return replace(found, outputs=outputs, certificate=certificate), replayed.conditions
    except DeadlineError:
        pass
    return None


def _without(certificate: Certificate, condition: tuple[str, Term]) -> Certificate:
    """Returns a certificate without a condition, nor steps that need it."""
    from dialect_utils.verdict.replay.scalars import check_scalar

    rest, sources = tuple(each for each in certificate.conditions if each != condition), Sources[Term]()

    def holds(value: str, term: Term) -> bool:
        found = sources.of(term, value)
        return found is not None and all((value, each) in rest for each in found)

    conditional = {rule.name for rule in all_rules() if rule.is_conditional}
    steps = [
        step
        for step in certificate.steps
        if step.rule not in conditional or check_scalar(step.rule, step.before, step.after, holds)
    ]
    return replace(certificate, steps=tuple(steps), conditions=rest)


def choices_of(outputs: Sequence[OutputProof]) -> tuple[str, ...]:
    """Returns the choices that the proofs of outputs leave to the engine, each once."""
    return tuple(dict.fromkeys(choice for each in outputs for choice in each.choices))
