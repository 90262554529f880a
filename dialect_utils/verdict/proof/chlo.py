"""Modules with CHLO operations decomposed: the second attempt where the operations as such are not proved equal."""

from __future__ import annotations

from collections.abc import Sequence

from dialect_utils.ir import Module
from dialect_utils.verdict.proof.algebra.rule import Rule

CHLO = Rule("chlo", "A CHLO operation is its decomposition into StableHLO by CHLO's own pass.")


def decomposed(stages: Sequence[Module]) -> list[Module] | None:
    """Returns modules without CHLO operations; None where no operation is of CHLO."""
    if all(stage.dialect == "hlo" for stage in stages):
        # MLIR is not loaded for HLO.
        return None
    from dialect_utils.stablehlo.module import StableHloModule
    from dialect_utils.stablehlo.parse import try_decompose_chlo

    found = [try_decompose_chlo(stage) if isinstance(stage, StableHloModule) else None for stage in stages]
    return [made or stage for made, stage in zip(found, stages, strict=True)] if any(found) else None
