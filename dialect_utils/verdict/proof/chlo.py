"""Modules with CHLO operations as what these are made of: a second try, where their names tell nothing."""

from __future__ import annotations

from collections.abc import Sequence

from dialect_utils.ir import Module
from dialect_utils.verdict.proof.algebra.rule import Rule

CHLO = Rule("chlo", "A CHLO operation is what its dialect's own pass makes of it in StableHLO.")


def decomposed(stages: Sequence[Module]) -> list[Module] | None:
    """Returns modules without CHLO operations; None where there are none to take apart."""
    if all(stage.dialect == "hlo" for stage in stages):
        # MLIR is not loaded for HLO.
        return None
    from dialect_utils.stablehlo.module import StableHloModule
    from dialect_utils.stablehlo.parse import try_decompose_chlo

    found = [try_decompose_chlo(stage) if isinstance(stage, StableHloModule) else None for stage in stages]
    return [made or stage for made, stage in zip(found, stages, strict=True)] if any(found) else None
