"""Writes StableHLO programs that check themselves, into stablehlo/.

`python -m tests.corpus.make_stablehlo`. Each module has `@inputs` and `@expected` (constants; the expected ones were
computed by JAX on the CPU), the program as a private function, and a `@main` that calls all three and compares with
`check.expect_eq` (exact results) or `check.expect_close` (floats that another engine may round otherwise).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jax
import numpy as np
from numpy.typing import NDArray

from tests.corpus.self_checking import PROGRAMS, SelfChecking

HERE = Path(__file__).resolve().parent
MAIN = re.compile(r"func\.func public @main\((?P<arguments>.*)\) -> (?P<results>.*) \{\n")
ATTRIBUTES = re.compile(r" \{(jax|mhlo)\.[^{}]*\}")
Array = NDArray[Any]


def self_checking_text(program: SelfChecking) -> str:
    """Returns the module's text."""
    inputs = program.draw_inputs()
    function = jax.jit(program.function, keep_unused=True)
    outputs = [np.asarray(a) for a in jax.tree.leaves(function(*inputs))]
    lowered = function.trace(*inputs).lower(lowering_platforms=("tpu",))  # free of calls into CPU libraries
    body = _functions(lowered.as_text(), program.name)
    parts = [
        _main(program, inputs, outputs),
        _constants(inputs, "inputs"),
        _constants(outputs, "expected"),
        body,
    ]
    return f"module @{program.name} {{\n" + "".join(parts) + "}\n"


def _functions(module_text: str, name: str) -> str:
    """Returns the functions of a module, its main one private and called `name`."""
    inside = module_text[module_text.index("{\n") + 2 : module_text.rindex("}")]
    inside = inside.replace("func.func public @main(", f"func.func private @{name}(", 1)
    return ATTRIBUTES.sub("", inside)


def _constants(arrays: Sequence[Array], name: str) -> str:
    return _functions(jax.jit(lambda: tuple(arrays)).lower().as_text(), name)


def _main(program: SelfChecking, inputs: Sequence[Array], outputs: Sequence[Array]) -> str:
    ins, outs = [_type(a) for a in inputs], [_type(a) for a in outputs]
    results = f"({', '.join(outs)})" if len(outs) > 1 else outs[0]
    lines = [
        f"func.func public @main() -> {results} {{",
        f"  {_bound('in', ins)} = call @inputs() : () -> ({', '.join(ins)})",
        f"  {_bound('want', outs)} = call @expected() : () -> ({', '.join(outs)})",
        f"  {_bound('got', outs)} = call @{program.name}({', '.join(_uses('in', ins))}) "
        f": ({', '.join(ins)}) -> ({', '.join(outs)})",
    ]
    for got, want, array, kind in zip(_uses("got", outs), _uses("want", outs), outputs, outs, strict=True):
        check = "close" if program.is_close and array.dtype.kind not in "biu" else "eq"
        operands = f"({got}, {want}) {{has_side_effect = true}} : ({kind}, {kind}) -> ()"
        lines.append(f"  stablehlo.custom_call @check.expect_{check}{operands}")
    lines += [f"  return {', '.join(_uses('got', outs))} : {', '.join(outs)}", "}"]
    return "".join(f"  {line}\n" for line in lines)


def _bound(name: str, types: Sequence[str]) -> str:
    return f"%{name}:{len(types)}" if len(types) > 1 else f"%{name}"


def _uses(name: str, types: Sequence[str]) -> list[str]:
    return [f"%{name}#{i}" for i in range(len(types))] if len(types) > 1 else [f"%{name}"]


def _type(array: Array) -> str:
    text = jax.jit(lambda: array).lower().as_text()
    found = MAIN.search(text)
    if found is None:
        raise ValueError("the lowered module has no main function")
    return ATTRIBUTES.sub("", found["results"]).strip("()")


def main() -> None:
    """Writes every program."""
    jax.config.update("jax_platforms", "cpu")
    (HERE / "stablehlo").mkdir(exist_ok=True)
    for program in PROGRAMS.values():
        with jax.enable_x64(program.x64):
            (HERE / "stablehlo" / f"{program.name}.mlir").write_text(self_checking_text(program))


if __name__ == "__main__":
    main()
