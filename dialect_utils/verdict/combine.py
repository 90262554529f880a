"""What a proof and executions say together."""

from __future__ import annotations

from dataclasses import replace

from dialect_utils.verdict.evidence import Verdict
from dialect_utils.verdict.proof import ProofResult
from dialect_utils.verdict.result import NOT_GUARANTEED, PROOF, Counterexample

_ONLY_ORDER = "proved equal, so these bits differ only by the engine's choice of order"
_OWN_EXPANSION = "the specification decides; this engine expands it otherwise"
_CONTRADICTED = "proved equal, yet an engine computes something else"


def combined(proved: ProofResult | None, run: Verdict | None) -> Verdict:
    """Returns the verdict of a proof (None: none was asked for) and of what the engines found (None: none ran).

    A proof that two modules are equal settles what engines leave open. One that an engine contradicts
    settles nothing.
    """
    if proved is None:
        return run or Verdict("unknown", reason="neither a proof nor an engine was asked for")
    return replace(_combined(proved, run), proved=proved.outputs, rules=proved.rules)


def _combined(proved: ProofResult, run: Verdict | None) -> Verdict:
    if proved.answer == "unknown":
        return replace(run or Verdict("unknown"), proof=proved.reason)
    if proved.answer == "different":
        return _different(proved, run)
    used = "; ".join(filter(None, ["terms of all results", proved.reason]))
    if run is None:
        return Verdict("equal", (PROOF,), proof=used)
    if run.verdict == "different" and proved.expanded:
        reason = f"{proved.expanded}: {_OWN_EXPANSION}: {run.reason}"
        return Verdict("equal", (PROOF,), reason=reason, proof=used)
    if run.verdict == "different":
        reason = f"{_CONTRADICTED}: {run.reason}"
        return replace(run, verdict="unknown", methods=(PROOF, *run.methods), reason=reason, proof=used)
    methods = (PROOF, *run.methods) if run.found_no_difference else (PROOF,)
    reason = f"{run.reason}; {_ONLY_ORDER}" if NOT_GUARANTEED in run.reason else run.reason
    return replace(run, verdict="equal", methods=methods, reason=reason, proof=used)


def _different(proved: ProofResult, run: Verdict | None) -> Verdict:
    """Returns the verdict with an engine's bits where it found a difference, and the element that moved."""
    found = run.counterexample if run is not None else None
    if run is None or run.verdict != "different" or not isinstance(found, Counterexample):
        return Verdict("different", (PROOF,), "", proved.moved, proved.reason)
    return replace(run, methods=(PROOF, *run.methods), counterexample=replace(found, moved=proved.moved))
