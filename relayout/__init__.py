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
        memory_report,
        optimize,
        parse,
        parse_shape,
        read,
        run,
        validate,
        why,
        write,
    )
    from relayout.jax.modules import from_jax

__version__ = "0.1.0"

# The module that defines each public name.
_HOME = {
    "DiagnosticError": "dialect_utils.text",
    "Layout": "dialect_utils.layout",
    "Module": "dialect_utils.ir",
    "Pass": "passes.framework.base",
    "Pipeline": "passes.framework.pipeline",
    "Report": "passes.framework.base",
    "Shape": "dialect_utils.layout",
    "Verdict": "dialect_utils.verdict",
    "check": "relayout.api",
    "draw": "relayout.api",
    "explain": "relayout.api",
    "from_jax": "relayout.jax.modules",
    "linear_index": "relayout.api",
    "memory_report": "relayout.api",
    "module_pass": "passes.framework.base",
    "optimize": "relayout.api",
    "parse": "relayout.api",
    "parse_shape": "relayout.api",
    "read": "relayout.api",
    "run": "relayout.api",
    "validate": "relayout.api",
    "why": "relayout.api",
    "write": "relayout.api",
}
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
    "memory_report",
    "parse_shape",
    "Shape",
    "Layout",
    "linear_index",
    "explain",
    "draw",
    "Pipeline",
    "Pass",
    "module_pass",
    "Report",
    "DiagnosticError",
]

find_own_packages()


def _import_public(name: str) -> object:
    """Imports a public name on first use."""
    # Imported here: `find_own_packages` comes first.
    from dialect_utils.lazy_names import import_name

    if name == "jax":
        from importlib import import_module

        return import_module("relayout.jax")
    return import_name(name, _HOME, globals())


if not TYPE_CHECKING:  # type checkers would accept any name of a module with this function
    __getattr__ = _import_public


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
