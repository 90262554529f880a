"""Inputs of any size, the same in every run, and one training step as a compiler wrote it."""

from __future__ import annotations

import gzip
import re
from functools import cache
from itertools import count
from pathlib import Path

HERE = Path(__file__).resolve().parent
TESTS = HERE.parent / "tests"
_COMPUTATION = re.compile(r"^(?:ENTRY )?%(\S+) .*?^\}$", re.DOTALL | re.MULTILINE)
_NAME = re.compile(r"%([A-Za-z_][\w.\-]*)")
# Tables of file names belong to one dump each; their numbers mean nothing in another.
_FRAME = re.compile(r" ?stack_frame_id=\d+")
_INDEX = re.compile(r"/\*index=\d+\*/")
_PARAMETER = re.compile(r" parameter\((\d+)\)")
_ROOT_TUPLE = re.compile(r" = \((.*)\) tuple\(([^)]*)\)")
_ENTRY_LAYOUT = re.compile(r"entry_computation_layout=\{\((.*)\)->\((.*?)\)\}, (?=[a-z_]+=)")
_OPCODES = ("add", "multiply", "subtract", "maximum")


def corpus(instructions: int) -> str:
    """Returns one module of the corpus' computations, repeated under new names: more than 1,000 distinct shapes."""
    parts: list[str] = []
    found = 0
    for copy in count():
        for number, dump in enumerate(_dumps()):
            if found >= instructions:
                entry = "ENTRY %big.entry (big.p: f32[]) -> f32[] {\n  ROOT %big.p = f32[] parameter(0)\n}\n"
                return "HloModule big, is_scheduled=true\n\n" + "\n\n".join(parts) + "\n\n" + entry
            parts.append(_renamed(dump, f".c{copy}d{number}"))
            found += parts[-1].count(" = ")
    raise AssertionError("the count ended")


@cache
def _dumps() -> tuple[str, ...]:
    packed = sorted((TESTS / "memory" / "dumps").glob("*.hlo.gz"))
    dumps = [gzip.decompress(path.read_bytes()).decode() for path in packed]
    dumps += [path.read_text() for path in sorted((TESTS / "corpus" / "tpu").glob("*/tpu.hlo"))]
    # XLA prints these with what its own parser does not take.
    return tuple(dump for dump in dumps if " custom-call-update(" not in dump and "TODO(b/" not in dump)


def _renamed(dump: str, suffix: str) -> str:
    """Returns a dump's computations with a suffix on every name and no ENTRY mark."""
    text = "\n\n".join(match[0].removeprefix("ENTRY ") for match in _COMPUTATION.finditer(dump))
    # The signature's parameters have no `%` and need no new names: XLA does not look at them.
    return _FRAME.sub("", _NAME.sub(rf"%\1{suffix}", text))


def _chain(instructions: int, tail: str) -> str:
    """Returns one entry in which every instruction uses two of those before it; `tail` may name its `{number}`."""
    shapes = [f"f32[{8 + size % 37},{128 + size % 61}]{{1,0}}" for size in range(64)]
    lines = [f"  %p.{i} = {shape} parameter({i})" for i, shape in enumerate(shapes)]
    names = [f"p.{i}" for i in range(len(shapes))]
    for number in range(instructions - len(shapes)):
        kind = number % len(shapes)
        name = f"{_OPCODES[number // len(shapes) % len(_OPCODES)]}.{number}"
        root = "ROOT " if number == instructions - len(shapes) - 1 else ""
        operands = f"%{names[kind]}, %p.{kind}"
        lines.append(f"  {root}%{name} = {shapes[kind]} {name.split('.')[0]}({operands}){tail.format(number=number)}")
        names[kind] = name
    return "HloModule chain\n\nENTRY %main {\n" + "\n".join(lines) + "\n}\n"


def entry(instructions: int) -> str:
    """Returns one long entry in which every instruction has metadata of its own."""
    return _chain(
        instructions, ', metadata={{op_name="jit(step)/layer_{number}/op" source_file="step.py" source_line=7}}'
    )


def plain(instructions: int) -> str:
    """Returns one long entry without attributes."""
    return _chain(instructions, "")


def results(number: int) -> str:
    """Returns HLO with as many parameters and elements of the result."""
    lines = [f"  %p.{i} = f32[3,5]{{1,0}} parameter({i})" for i in range(number)]
    lines += [f"  %n.{i} = f32[3,5]{{1,0}} negate(%p.{i})" for i in range(number)]
    types = ", ".join(["f32[3,5]{1,0}"] * number)
    operands = ", ".join(f"%n.{i}" for i in range(number))
    head = f"HloModule m, entry_computation_layout={{({types})->({types})}}\n\nENTRY %main {{\n"
    return head + "\n".join(lines) + f"\n  ROOT %t = ({types}) tuple({operands})\n}}\n"


def stablehlo_results(number: int) -> str:
    """Returns StableHLO with as many arguments and results."""
    kind = "tensor<3x5xf32>"
    arguments = ", ".join(f"%arg{i}: {kind}" for i in range(number))
    lines = [f"    %{i} = stablehlo.negate %arg{i} : {kind}" for i in range(number)]
    values, kinds = ", ".join(f"%{i}" for i in range(number)), ", ".join([kind] * number)
    body = "\n".join([*lines, f"    return {values} : {kinds}"])
    return f"module @m {{\n  func.func public @main({arguments}) -> ({kinds}) {{\n{body}\n  }}\n}}\n"


def stablehlo(operations: int) -> str:
    """Returns one long StableHLO function."""
    kind, lines, last = "tensor<8x128xf32>", [], "%arg0"
    for number in range(operations):
        lines.append(f"    %{number} = stablehlo.{_OPCODES[number % len(_OPCODES)]} {last}, %arg0 : {kind}")
        last = f"%{number}"
    head = f"module @m {{\n  func.func public @main(%arg0: {kind}) -> {kind} {{\n"
    return head + "\n".join(lines) + f"\n    return {last} : {kind}\n  }}\n}}\n"


def training_step(*, optimized: bool = True) -> str:
    """Returns a 12-layer language model's Adam step, compiled for a TPU v4, or as it was before."""
    name = "training_step.hlo.gz" if optimized else "training_step_before.hlo.gz"
    return gzip.decompress((HERE / "dumps" / name).read_bytes()).decode()


def two_steps() -> str:
    """Returns two of these training steps in one module: the parameters, results and instructions of 24 layers."""
    head, rest = training_step().split("\n\n%", 1)
    computations, entry = f"%{rest}".split("\n\nENTRY ")
    *body, root = [line for line in entry.split("\n") if line.startswith("  ")]
    shapes, operands = _ROOT_TUPLE.findall(_INDEX.sub("", root))[0]
    count = sum(" parameter(" in line for line in body)

    def again(text: str) -> str:
        return _NAME.sub(r"%\1.again", text)

    shifted = [_PARAMETER.sub(lambda match: f" parameter({int(match[1]) + count})", line) for line in body]
    both = f"  ROOT %both = ({shapes}, {shapes}) tuple({operands}, {again(operands)})"
    head = _ENTRY_LAYOUT.sub(r"entry_computation_layout={(\1, \1)->(\2, \2)}, ", _INDEX.sub("", head))
    lines = ["ENTRY %main {", *body, *map(again, shifted), both, "}", ""]
    return "\n\n".join([head, computations, again(computations), "\n".join(lines)])
