"""XLA's options under which it runs a program as it is written."""

from __future__ import annotations

# Its simplifier would make different programs the same.
_DISABLED = "xla_disable_hlo_passes"
_SIMPLIFIER = "algsimp"
_AS_WRITTEN: dict[str, bool | int | str] = {_DISABLED: _SIMPLIFIER, "xla_allow_excess_precision": False}
# An engine that folds a module without inputs into its results would execute nothing. The code
# runs once, so no time is spent on making it fast.
_WITHOUT_INPUTS: dict[str, bool | int | str] = {
    **_AS_WRITTEN,
    _DISABLED: f"{_SIMPLIFIER},constant_folding",
    "xla_backend_optimization_level": 0,
    "xla_cpu_parallel_codegen_split_count": 1,
}


def xla_options(*, has_inputs: bool, simplifies: bool) -> dict[str, bool | int | str]:
    """Returns the options; `simplifies`: with the simplifier, where XLA:CPU has no code but by way of it."""
    options = _AS_WRITTEN if has_inputs else _WITHOUT_INPUTS
    if not simplifies:
        return options
    kept = ",".join(name for name in str(options[_DISABLED]).split(",") if name != _SIMPLIFIER)
    return {**options, _DISABLED: kept}
