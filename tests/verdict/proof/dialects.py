"""Random modules as StableHLO, and small wrong edits of their text."""

from __future__ import annotations

import re

from hypothesis import strategies as st

from dialect_utils.hlo import HloModule, Instruction
from dialect_utils.io.files import parse_bytes
from dialect_utils.ir import Module
from dialect_utils.layout import ArrayShape, Pad, Slice, Transpose

_OTHER_OPCODE = {"add": "multiply", "multiply": "maximum", "maximum": "subtract"}


def parse(text: str) -> Module:
    return parse_bytes(text.encode(), "m")


def hlo(text: str) -> HloModule:
    module = parse(text)
    assert isinstance(module, HloModule)
    return module


def as_stablehlo(module: HloModule) -> str:
    """Prints a random HLO module as StableHLO, its layouts as annotations."""
    root = module.entry.root
    arguments = ", ".join(f"%{p.name}: {_type(p)}{_mode(p)}" for p in module.entry.parameters)
    results = ", ".join(_type(value) + _mode(value) for value in root.operands)
    lines = [_operation(item) for item in module.entry.operations if item.opcode != "tuple"]
    names = ", ".join(f"%{value.name}" for value in root.operands)
    types = ", ".join(map(_type, root.operands))
    head = f"func.func public @main({arguments}) -> ({results}) {{"
    return "\n  ".join([head, *lines, f"return {names} : {types}"]) + "\n}\n"


def _shape(value: Instruction) -> ArrayShape:
    assert isinstance(value.shape, ArrayShape)
    return value.shape


def _type(value: Instruction) -> str:
    return f"tensor<{''.join(f'{size}x' for size in _shape(value).dimensions)}i32>"


def _mode(value: Instruction) -> str:
    shape = _shape(value)
    return f' {{mhlo.layout_mode = "{shape.layout}"}}' if shape.is_tiled else ""


def _operation(item: Instruction) -> str:
    operands = ", ".join(f"%{operand.name}" for operand in item.operands)
    types = ", ".join(map(_type, item.operands))
    if item.opcode == "constant":
        return f"%{item.name} = stablehlo.constant dense<{item.literal}> : {_type(item)}"
    opcode = {"broadcast": "broadcast_in_dim"}.get(item.opcode, item.opcode)
    layout = f' {{xla_shape = "{item.shape}"}}' if _shape(item).is_tiled else ""
    properties = f" <{{{_properties(item)}}}>" if _properties(item) else ""
    return f'%{item.name} = "stablehlo.{opcode}"({operands}){properties}{layout} : ({types}) -> {_type(item)}'


def _properties(item: Instruction) -> str:
    step = item.step
    if isinstance(step, Transpose):
        return f"permutation = {_array(step.permutation)}"
    if isinstance(step, Slice):
        ones = (1,) * len(step.start)
        names = {"start_indices": step.start, "limit_indices": step.limit, "strides": step.stride or ones}
    elif isinstance(step, Pad):
        zeros = (0,) * len(step.low)
        names = {"edge_padding_low": step.low, "edge_padding_high": step.high, "interior_padding": zeros}
    else:
        return "broadcast_dimensions = array<i64>" if item.opcode == "broadcast" else ""
    return ", ".join(f"{name} = {_array(values)}" for name, values in names.items())


def _array(values: tuple[int, ...]) -> str:
    return f"array<i64: {', '.join(map(str, values))}>" if values else "array<i64>"


@st.composite
def edits(draw: st.DrawFn, text: str) -> str:
    """Returns the text with one line changed; the result may be no module any more."""
    lines = text.split("\n")
    numbers = [i for i, line in enumerate(lines) if " = " in line and "parameter(" not in line]
    at = draw(st.sampled_from(numbers))
    lines[at] = draw(_edited(lines[at], [lines[i].split(" = ")[0].strip() for i in range(3, at)]))
    return "\n".join(lines)


@st.composite
def _edited(draw: st.DrawFn, line: str, names: list[str]) -> str:
    kind = draw(st.sampled_from(["operand", "swap", "opcode", "number", "order"]))
    if kind == "swap":
        return re.sub(r"\((v\d+), (v\d+)\)", r"(\2, \1)", line)
    if kind == "opcode":
        return re.sub(r"\b(add|multiply|maximum)\(", lambda match: f"{_OTHER_OPCODE[match[1]]}(", line)
    if kind == "order" and "dimensions={" in line:
        return re.sub(r"dimensions=\{[\d,]*\}", lambda match: f"dimensions={{{match[0][12:-1][::-1]}}}", line)
    if kind == "number":
        return re.sub(r"\[(\d+):(\d+)\]", lambda m: f"[{int(m[1]) + 1}:{int(m[2]) + 1}]", line).replace(
            "constant(0)", "constant(2)"
        )
    operands = re.findall(r"v\d+", line.split("(", 1)[1]) if "(" in line else []
    if not operands or not names:
        return line
    old = draw(st.sampled_from(operands))
    front, back = line.split("(", 1)
    return f"{front}({back.replace(old, draw(st.sampled_from(names)), 1)}"
