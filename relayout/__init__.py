"""Layout passes for XLA's HLO text and StableHLO: annotate tiles, rewrite them explicitly, check bit for bit.

    import relayout

    module = relayout.read("examples/attention.mlir")
    expanded = relayout.optimize(module, "annotate-layouts{target=tpu-v5e},expand-tiling")
    print(relayout.check(module, expanded))

Names are imported when they are first used: `import relayout` loads neither numpy nor jax.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from relayout.shadowing import find_own_packages

if TYPE_CHECKING:
    from dialect_utils.ir import Module
    from dialect_utils.layout import Layout, Shape
    from dialect_utils.layout.notation.strided import Strided, complement, compose, divide, inverse
    from dialect_utils.text import DiagnosticError
    from dialect_utils.verdict import Verdict
    from passes.framework.base import Pass, Report, module_pass
    from passes.framework.pipeline import Pipeline
    from relayout import jax as jax
    from relayout.api import (
        check,
        draw,
        explain,
        linear_index,
        memory_report as memory_report,
        optimize,
        parse,
        parse_shape,
        read,
        report,
        run,
        tune,
        validate,
        why,
        write,
    )
    from relayout.jax.modules import from_jax

__version__ = "0.1.0"

__all__ = [  # noqa: RUF022  # modules, then shapes, then the names that passes are written with
    "read",
    "parse",
    "from_jax",
    "write",
    "Module",
    "optimize",
    "check",
    "validate",
    "why",
    "run",
    "Verdict",
    "report",
    "tune",
    "parse_shape",
    "Shape",
    "Layout",
    "linear_index",
    "explain",
    "draw",
    "Strided",
    "compose",
    "inverse",
    "complement",
    "divide",
    "Pipeline",
    "Pass",
    "module_pass",
    "Report",
    "DiagnosticError",
]

find_own_packages()


if not TYPE_CHECKING:  # type checkers would accept any name of a module with this function

    def __getattr__(name: str) -> object:
        # Imported here: `find_own_packages` comes first.
        from dialect_utils.lazy_names import import_name

        return import_name(__name__, name)


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
