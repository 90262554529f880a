"""The proof that a changed program computes the same as the program as it is."""

from __future__ import annotations

from dialect_utils.stablehlo.module import StableHloModule
from dialect_utils.verdict import Options, compare_modules

_PROOF_SECONDS = 60.0


def proved_equal(module: StableHloModule, changed: StableHloModule) -> str | None:
    """Returns the evidence that a changed program is equal to a program; None where there is no proof."""
    verdict = compare_modules(module, changed, Options(engines=("proof",), proof_seconds=_PROOF_SECONDS))
    return ": ".join(line.strip() for line in str(verdict).splitlines()) if verdict.verdict == "equal" else None
