"""Modules without CHLO operations: a CHLO operation is its decomposition into StableHLO by CHLO's own pass."""

from __future__ import annotations

from collections.abc import Sequence

from dialect_utils.ir import Module


def without_chlo(stages: Sequence[Module]) -> Sequence[Module]:
    """Returns modules with their CHLO operations decomposed; the same ones where no operation is of CHLO."""
    if all(stage.dialect == "hlo" for stage in stages):
        # MLIR is not loaded for HLO.
        return stages
    from dialect_utils.stablehlo.module import StableHloModule
    from dialect_utils.stablehlo.parse import try_decompose_chlo

    found = [try_decompose_chlo(stage) if isinstance(stage, StableHloModule) else None for stage in stages]
    return [made or stage for made, stage in zip(found, stages, strict=True)] if any(found) else stages
