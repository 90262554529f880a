"""Passes of an optimizer, right ones and wrong ones, as a Python function of `relayout validate --with`.

Each replaces the body of one program by another body: the kinds of mistakes that optimizers make, and rewrites that
they make rightly. A program is a signature, the body before the pass, and the one after it.
"""

from __future__ import annotations

_F = "tensor<4x4xf32>"
_I = "tensor<6xi32>"
_V = "tensor<6xf32>"
_S = "tensor<i32>"
_TWO = f"%a: {_F}, %b: {_F}) -> {_F}"
_ONE = f"%a: {_F}) -> {_F}"
_INTS = f"%a: {_I}, %b: {_I}, %c: {_I}) -> {_I}"
_VECTOR = f"%a: {_V}) -> {_V}"


def _line(name: str, rest: str, *types: str) -> str:
    kinds = types if types else (_F,)
    shown = kinds[0] if len(kinds) == 1 else f"({', '.join(kinds[:-1])}) -> {kinds[-1]}"
    return f"{name} = stablehlo.{rest} : {shown}"


def _reduce(name: str, value: str, opcode: str, start: str, dimension: int) -> str:
    zero = _line(f"{name}_start", f"constant dense<{start}>", "tensor<f32>")
    head = f"{name} = stablehlo.reduce({value} init: {name}_start) applies stablehlo.{opcode}"
    return f"{zero}\n{head} across dimensions = [{dimension}] : ({_F}, tensor<f32>) -> tensor<4xf32>"


def _loop(direction: str) -> str:
    return f"""%zero = stablehlo.constant dense<0> : {_S}
%r:2 = stablehlo.while(%i = %zero, %x = %a) : {_S}, {_F}
cond {{
  %five = stablehlo.constant dense<5> : {_S}
  %p = stablehlo.compare {direction}, %i, %five : ({_S}, {_S}) -> tensor<i1>
  stablehlo.return %p : tensor<i1>
}} do {{
  %one = stablehlo.constant dense<1> : {_S}
  %j = stablehlo.add %i, %one : {_S}
  %y = stablehlo.add %x, %a : {_F}
  stablehlo.return %j, %y : {_S}, {_F}
}}
%s = stablehlo.negate %r#1 : {_F}"""


_CUBE = "tensor<3x3x3xf32>"
_ROW = "tensor<4xf32>"
_MASK = "tensor<4x4xi1>"

WRONG: dict[str, tuple[str, str, str]] = {
    "axis": (
        f"%a: {_CUBE}) -> {_CUBE}",
        _line("%s", "transpose %a, dims = [1, 2, 0]", _CUBE, _CUBE),
        _line("%s", "transpose %a, dims = [2, 0, 1]", _CUBE, _CUBE),
    ),
    "negate": (_TWO, _line("%n", "negate %b") + "\n" + _line("%s", "add %a, %n"), _line("%s", "add %a, %b")),
    "slice": (
        f"%a: {_V}) -> tensor<3xf32>",
        f"%t = stablehlo.slice %a [1:5] : ({_V}) -> tensor<4xf32>\n"
        "%s = stablehlo.slice %t [1:4] : (tensor<4xf32>) -> tensor<3xf32>",
        f"%s = stablehlo.slice %a [1:4] : ({_V}) -> tensor<3xf32>",
    ),
    "minimum": (_TWO, _line("%s", "maximum %a, %b"), _line("%s", "minimum %a, %b")),
    "padding": (
        "%a: tensor<4xf32>) -> tensor<6xf32>",
        "%z = stablehlo.constant dense<0.0> : tensor<f32>\n"
        f"%p = stablehlo.pad %a, %z, low = [1], high = [1], interior = [0] : ({_ROW}, tensor<f32>) -> {_V}\n"
        f"%s = stablehlo.exponential %p : {_V}",
        "%z = stablehlo.constant dense<0.0> : tensor<f32>\n"
        f"%p = stablehlo.exponential %a : {_ROW}\n"
        f"%s = stablehlo.pad %p, %z, low = [1], high = [1], interior = [0] : ({_ROW}, tensor<f32>) -> {_V}",
    ),
    "subtract": (_TWO, _line("%s", "subtract %a, %b"), _line("%s", "subtract %b, %a")),
    "division": (
        _INTS,
        _line("%m", "multiply %a, %b", _I) + "\n" + _line("%s", "divide %m, %c", _I),
        _line("%m", "divide %b, %c", _I) + "\n" + _line("%s", "multiply %a, %m", _I),
    ),
    "equality": (
        f"%a: {_I}, %b: {_I}) -> tensor<6xi1>",
        _line("%p", "compare GT, %a, %b", _I, _I, "tensor<6xi1>") + "\n" + _line("%s", "not %p", "tensor<6xi1>"),
        _line("%s", "compare LT, %a, %b", _I, _I, "tensor<6xi1>"),
    ),
    "clamp": (
        f"%a: {_V}, %i: {_S}, %j: {_S}) -> tensor<2xf32>",
        f"%t = stablehlo.dynamic_slice %a, %i, sizes = [4] : ({_V}, {_S}) -> {_ROW}\n"
        f"%s = stablehlo.dynamic_slice %t, %j, sizes = [2] : ({_ROW}, {_S}) -> tensor<2xf32>",
        f"%k = stablehlo.add %i, %j : {_S}\n"
        f"%s = stablehlo.dynamic_slice %a, %k, sizes = [2] : ({_V}, {_S}) -> tensor<2xf32>",
    ),
    "nan": (
        _TWO,
        _line("%p", "compare NE, %a, %a", _F, _F, _MASK) + "\n" + _line("%s", "select %p, %b, %a", _MASK, _F, _F, _F),
        _line("%s", "add %a, %a"),
    ),
    "zero": (
        _ONE,
        _line("%z", "constant dense<0.0>") + "\n" + _line("%s", "subtract %z, %a"),
        _line("%s", "negate %a"),
    ),
    "reduction": (f"%a: {_F}) -> {_ROW}", _reduce("%s", "%a", "add", "0.0", 0), _reduce("%s", "%a", "add", "0.0", 1)),
    "start": (
        f"%a: {_F}) -> {_ROW}",
        _reduce("%s", "%a", "maximum", "0xFF800000", 0),
        _reduce("%s", "%a", "maximum", "0.0", 0),
    ),
    "concatenation": (
        "%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<8xf32>",
        f"%s = stablehlo.concatenate %a, %b, dim = 0 : ({_ROW}, {_ROW}) -> tensor<8xf32>",
        f"%s = stablehlo.concatenate %b, %a, dim = 0 : ({_ROW}, {_ROW}) -> tensor<8xf32>",
    ),
    "reverse": (
        _ONE,
        _line("%r", "reverse %a, dims = [0]") + "\n" + _line("%s", "reverse %r, dims = [1]"),
        _line("%s", "reverse %a, dims = [0]"),
    ),
    "broadcast": (
        f"%a: {_ROW}) -> {_F}",
        _line("%s", "broadcast_in_dim %a, dims = [0]", _ROW, _F),
        _line("%s", "broadcast_in_dim %a, dims = [1]", _ROW, _F),
    ),
    "contraction": (
        _TWO,
        _line("%t", "transpose %a, dims = [1, 0]", _F, _F)
        + "\n"
        + _line("%s", "dot_general %t, %b, contracting_dims = [1] x [0]", _F, _F, _F),
        _line("%s", "dot_general %a, %b, contracting_dims = [1] x [0]", _F, _F, _F),
    ),
    "shift": (
        _INTS,
        _line("%s", "shift_right_arithmetic %a, %b", _I),
        _line("%s", "shift_right_logical %a, %b", _I),
    ),
    "iteration": (_ONE, _loop("LT"), _loop("LE")),
    "bounds": (
        f"%l: {_F}, %a: {_F}, %h: {_F}) -> {_F}",
        _line("%s", "clamp %l, %a, %h"),
        _line("%m", "minimum %a, %l") + "\n" + _line("%s", "maximum %m, %h"),
    ),
    "root": (
        _ONE,
        _line("%m", "multiply %a, %a") + "\n" + _line("%s", "sqrt %m"),
        _line("%z", "constant dense<1.0>") + "\n" + _line("%s", "multiply %a, %z"),
    ),
}

RIGHT: dict[str, tuple[str, str, str]] = {
    "axes": (
        f"%a: {_CUBE}) -> {_CUBE}",
        _line("%t", "transpose %a, dims = [1, 2, 0]", _CUBE, _CUBE)
        + "\n"
        + _line("%s", "transpose %t, dims = [1, 2, 0]", _CUBE, _CUBE),
        _line("%s", "transpose %a, dims = [2, 0, 1]", _CUBE, _CUBE),
    ),
    "negates": (_TWO, _line("%n", "negate %b") + "\n" + _line("%s", "add %a, %n"), _line("%s", "subtract %a, %b")),
    "slices": (
        f"%a: {_V}) -> tensor<3xf32>",
        f"%t = stablehlo.slice %a [1:5] : ({_V}) -> tensor<4xf32>\n"
        "%s = stablehlo.slice %t [1:4] : (tensor<4xf32>) -> tensor<3xf32>",
        f"%s = stablehlo.slice %a [2:5] : ({_V}) -> tensor<3xf32>",
    ),
    "maximum": (
        f"%a: {_I}, %b: {_I}) -> {_I}",
        _line("%s", "maximum %a, %b", _I),
        _line("%p", "compare GE, %a, %b", _I, _I, "tensor<6xi1>")
        + "\n"
        + _line("%s", "select %p, %a, %b", "tensor<6xi1>", _I, _I, _I),
    ),
    "pad": (
        "%a: tensor<4xf32>) -> tensor<6xf32>",
        "%z = stablehlo.constant dense<0.0> : tensor<f32>\n"
        f"%p = stablehlo.pad %a, %z, low = [1], high = [1], interior = [0] : ({_ROW}, tensor<f32>) -> {_V}\n"
        f"%s = stablehlo.abs %p : {_V}",
        "%z = stablehlo.constant dense<0.0> : tensor<f32>\n"
        f"%p = stablehlo.abs %a : {_ROW}\n"
        f"%s = stablehlo.pad %p, %z, low = [1], high = [1], interior = [0] : ({_ROW}, tensor<f32>) -> {_V}",
    ),
    "commute": (_TWO, _line("%s", "multiply %a, %b"), _line("%s", "multiply %b, %a")),
    "factors": (
        _INTS,
        _line("%m", "multiply %a, %b", _I) + "\n" + _line("%s", "multiply %m, %c", _I),
        _line("%m", "multiply %b, %c", _I) + "\n" + _line("%s", "multiply %a, %m", _I),
    ),
    "comparison": (
        f"%a: {_I}, %b: {_I}) -> tensor<6xi1>",
        _line("%p", "compare GT, %a, %b", _I, _I, "tensor<6xi1>") + "\n" + _line("%s", "not %p", "tensor<6xi1>"),
        _line("%s", "compare LE, %a, %b", _I, _I, "tensor<6xi1>"),
    ),
    "double": (
        _ONE,
        _line("%t", "constant dense<2.0>") + "\n" + _line("%s", "multiply %a, %t"),
        _line("%s", "add %a, %a"),
    ),
    "square": (
        f"%a: {_I}) -> {_I}",
        _line("%t", "negate %a", _I) + "\n" + _line("%s", "multiply %t, %t", _I),
        _line("%s", "multiply %a, %a", _I),
    ),
    "flip": (
        _ONE,
        _line("%r", "reverse %a, dims = [0]") + "\n" + _line("%s", "reverse %r, dims = [1]"),
        _line("%s", "reverse %a, dims = [0, 1]"),
    ),
    "join": (
        f"%a: {_V}) -> {_V}",
        f"%t = stablehlo.slice %a [0:2] : ({_V}) -> tensor<2xf32>\n%u = stablehlo.slice %a [2:6] : ({_V}) -> {_ROW}\n"
        f"%s = stablehlo.concatenate %t, %u, dim = 0 : (tensor<2xf32>, {_ROW}) -> {_V}",
        f"%s = stablehlo.slice %a [0:6] : ({_V}) -> {_V}",
    ),
    "sum": (
        f"%a: {_F}) -> {_ROW}",
        _line("%t", "transpose %a, dims = [1, 0]", _F, _F) + "\n" + _reduce("%s", "%t", "add", "0.0", 0),
        _reduce("%s", "%a", "add", "0.0", 1),
    ),
    "row": (
        f"%a: {_ROW}) -> {_F}",
        _line("%t", "broadcast_in_dim %a, dims = [1]", _ROW, _F)
        + "\n"
        + _line("%s", "transpose %t, dims = [1, 0]", _F, _F),
        _line("%s", "broadcast_in_dim %a, dims = [0]", _ROW, _F),
    ),
    "product": (
        _TWO,
        _line("%t", "transpose %a, dims = [1, 0]", _F, _F)
        + "\n"
        + _line("%s", "dot_general %t, %b, contracting_dims = [1] x [0]", _F, _F, _F),
        _line("%s", "dot_general %a, %b, contracting_dims = [0] x [0]", _F, _F, _F),
    ),
    "mask": (
        _INTS,
        _line("%t", "and %a, %b", _I) + "\n" + _line("%s", "and %t, %a", _I),
        _line("%s", "and %a, %b", _I),
    ),
    "choice": (
        _TWO,
        _line("%p", "compare EQ, %a, %b", _F, _F, _MASK) + "\n" + _line("%s", "select %p, %a, %a", _MASK, _F, _F, _F),
        _line("%z", "constant dense<1.0>") + "\n" + _line("%s", "multiply %a, %z"),
    ),
    "index": (
        f"%a: {_V}) -> tensor<2xf32>",
        f"%i = stablehlo.constant dense<7> : {_S}\n"
        f"%s = stablehlo.dynamic_slice %a, %i, sizes = [2] : ({_V}, {_S}) -> tensor<2xf32>",
        f"%s = stablehlo.slice %a [4:6] : ({_V}) -> tensor<2xf32>",
    ),
    "absolute": (
        _ONE,
        _line("%t", "negate %a") + "\n" + _line("%s", "abs %t"),
        _line("%s", "abs %a"),
    ),
    "reshapes": (
        f"%a: {_F}) -> tensor<16xf32>",
        _line("%t", "reshape %a", _F, "tensor<2x8xf32>")
        + "\n"
        + _line("%s", "reshape %t", "tensor<2x8xf32>", "tensor<16xf32>"),
        _line("%s", "reshape %a", _F, "tensor<16xf32>"),
    ),
}


def program(name: str) -> str:
    """Returns the program of a pass, with the RUN line of a pipeline in which the pass is the second one."""
    signature, before, _ = {**WRONG, **RIGHT}[name]
    result = signature.rpartition("-> ")[2]
    run = f"// RUN: planted-opt %s --rename --{name} --rename -split-input-file | FileCheck %s"
    return f"{run}\nfunc.func @main({signature} {{\n{before}\nreturn %s : {result}\n}}\n"


def run(text: str, name: str) -> str:
    """Returns the module after a pass: `rename` renames the values, others replace their body."""
    if name == "rename":
        return text.replace("%s", "%s_").replace("%t", "%t_")
    signature, before, after = {**WRONG, **RIGHT}[name]
    changed = text.replace(run(before, "rename"), after.replace("%s", "%s_"))
    assert changed != text, signature
    return changed
