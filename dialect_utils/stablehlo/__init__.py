"""StableHLO modules with the interface of `dialect_utils.ir`; MLIR is imported on first use."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dialect_utils.stablehlo.module import StableHloModule

__all__ = ["parse_module"]


def parse_module(text_or_bytes: str | bytes, name: str = "<stablehlo>") -> StableHloModule:
    """Reads StableHLO: MLIR text, MLIR bytecode or a portable artifact.

    Raises DiagnosticError with MLIR's own message at its location in the text.
    """
    # Text-only commands must not pay for loading MLIR.
    from dialect_utils.stablehlo.parse import parse_module as parse

    return parse(text_or_bytes, name)
