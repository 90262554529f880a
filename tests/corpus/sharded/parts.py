"""Makes the program of one device's parts by the passes of Shardy that jaxlib has.

`python -m tests.corpus.sharded.parts < source.mlir` prints it without shardings. Shardy ends the process for some
programs, so that this runs in one of its own.
"""

from __future__ import annotations

import sys
from typing import Any

from jax._src.interpreters.mlir import make_ir_context
from jaxlib.mlir import ir, passmanager
from jaxlib.mlir.dialects import sdy as _registered  # noqa: F401 (its passes and attributes)

PASSES = (
    "sdy-propagation-pipeline",
    "func.func(sdy-insert-explicit-reshards{enable-full-version=true})",
    "sdy-resolve-permutation-factors",
    "func.func(sdy-reshard-to-collectives,sdy-pad-for-divisibility)",
    "sdy-convert-global-to-local",
    "sdy-drop-sharding-and-mesh",
)


def main() -> None:
    """Reads a program with shardings from standard input."""
    context: Any = make_ir_context()
    with context:
        module = ir.Module.parse(sys.stdin.read())
        passmanager.PassManager.parse(f"builtin.module({','.join(PASSES)})").run(module.operation)
        print(module)


if __name__ == "__main__":
    main()
