"""CHLO operations as what their dialect's own pass makes of them in StableHLO."""

from __future__ import annotations

from dialect_utils.stablehlo.bindings import ir, run_passes
from dialect_utils.stablehlo.module import StableHloModule
from dialect_utils.stablehlo.origins import walk
from dialect_utils.stablehlo.parse import parse_module

_PIPELINE = "builtin.module(func.func(chlo-legalize-to-stablehlo))"


def try_decompose_chlo(module: StableHloModule) -> StableHloModule | None:
    """Returns the module without CHLO operations; None where it has none, or MLIR cannot take one apart."""
    if not any(operation.name.startswith("chlo.") for operation in walk(module.root)):
        return None
    copy = ir.Module.parse(module.bytecode(), module.context)
    try:
        run_passes(copy, _PIPELINE)
    except ir.MLIRError:
        return None
    return parse_module(str(copy), f"{module.source.name} without CHLO")
