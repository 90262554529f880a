# ruff: noqa: E501
"""Generators of inputs that cost much memory or time for their bytes, each with two sizes that a search may change."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Mapping
from itertools import repeat

Make = Callable[[int, int], str]


def _entry(*lines: str, header: str = "", before: str = "") -> str:
    body = "\n  ".join(lines)
    return f"HloModule m{header}\n\n{before}ENTRY e {{\n  {body}\n}}\n"


def _root(shape: str, attributes: str = "") -> str:
    return _entry(f"ROOT p = {shape} parameter(0){attributes}")


def _list(text: str, count: int) -> str:
    return ", ".join(repeat(text, count))


_ADD = "add {\n  x = f32[] parameter(0)\n  y = f32[] parameter(1)\n  ROOT s = f32[] add(x, y)\n}\n\n"
_P = "p = f32[4] parameter(0)"


def _doubling(count: int, copies: int) -> str:
    """Returns tuples without shapes, of which each has the one before it twice."""
    lines = [f"t{i + 1} = tuple({_list(f't{i}', copies + 1)})" for i in range(count)]
    return _entry("t0 = f32[] parameter(0)", *lines, f"ROOT r = tuple(t{count})")


def _doubling_calls(count: int, copies: int) -> str:
    lines = [f"t{i + 1} = call({_list(f't{i}', copies)}), to_apply=add" for i in range(count)]
    return _entry("t0 = f32[] parameter(0)", *lines, f"ROOT r = f32[] negate(t{count})", before=_ADD)


def _elements(count: int, uses: int) -> str:
    """Returns many reads of a tuple of many leaves."""
    shape = f"({_list('f32[]', count)})"
    lines = [f"g{i} = f32[] get-tuple-element(p), index={i % count}" for i in range(uses)]
    return _entry(f"p = {shape} parameter(0)", *lines, f"ROOT r = f32[] negate(g{uses - 1})")


def _nested_loops(depth: int, leaves: int) -> str:
    shape = f"({_list('f32[]', leaves)})"
    condition = f"c {{\n  q = {shape} parameter(0)\n  ROOT t = pred[] constant(true)\n}}\n"
    bodies = [f"b0 {{\n  ROOT q = {shape} parameter(0)\n}}\n"]
    bodies += [
        f"b{i + 1} {{\n  q = {shape} parameter(0)\n  ROOT w = {shape} while(q), condition=c, body=b{i}\n}}\n"
        for i in range(depth)
    ]
    return _entry(
        f"p = {shape} parameter(0)",
        f"ROOT w = {shape} while(p), condition=c, body=b{depth}",
        before=condition + "".join(bodies),
    )


def _fusions(count: int, size: int) -> str:
    chain = "\n  ".join(f"a{i + 1} = f32[4] negate(a{i})" for i in range(size))
    fused = f"f {{\n  a0 = f32[4] parameter(0)\n  {chain}\n  ROOT r = f32[4] negate(a{size})\n}}\n"
    lines = [f"c{i + 1} = f32[4] fusion(c{i}), kind=kLoop, calls=f" for i in range(count)]
    return _entry("c0 = f32[4] parameter(0)", *lines, f"ROOT r = f32[4] negate(c{count})", before=fused)


def _call_chain(count: int, calls: int) -> str:
    texts = ["f0 {\n  p = f32[4] parameter(0)\n  ROOT r = f32[4] negate(p)\n}\n"]
    for number in range(1, count + 1):
        chain = "\n  ".join(f"c{i + 1} = f32[4] call(c{i}), to_apply=f{number - 1}" for i in range(calls))
        texts.append(f"f{number} {{\n  c0 = f32[4] parameter(0)\n  {chain}\n  ROOT r = f32[4] negate(c{calls})\n}}\n")
    return _entry(_P, f"ROOT r = f32[4] call(p), to_apply=f{count}", before="".join(texts))


def _reduce_scatter(groups: str) -> str:
    return _entry(
        _P,
        f"ROOT r = f32[4] all-reduce(p), replica_groups={groups}, to_apply=add",
        header=", replica_count=4",
        before=_ADD,
    )


def _alias(count: int, depth: int) -> str:
    pairs = ", ".join(f"{{{i}}}: ({i}, {{{_list('0', depth)}}}, may-alias)" for i in range(count))
    parameters = [f"p{i} = f32[] parameter({i})" for i in range(count)]
    names = ", ".join(f"p{i}" for i in range(count))
    return _entry(
        *parameters, f"ROOT t = ({_list('f32[]', count)}) tuple({names})", header=f", input_output_alias={{ {pairs} }}"
    )


def _frames(count: int, used: int) -> str:
    files = "\n".join(f'{i} "f{i}.py"' for i in range(1, count + 1))
    places = "\n".join(
        f"{i} {{file_name_id={i} function_name_id={i} line={i} end_line={i} column=1 end_column=2}}"
        for i in range(1, count + 1)
    )
    frames = "\n".join(f"{i} {{file_location_id={i} parent_frame_id={i - 1}}}" for i in range(1, count + 1))
    lines = [f"a{i + 1} = f32[4] negate(a{i}), metadata={{stack_frame_id={count}}}" for i in range(used)]
    tables = f"\nFileNames\n{files}\n\nFunctionNames\n{files}\n\nFileLocations\n{places}\n\nStackFrames\n{frames}\n\n"
    return _entry("a0 = f32[4] parameter(0)", *lines, f"ROOT r = f32[4] negate(a{used})", before=tables)


def _conditional(count: int, leaves: int) -> str:
    shape = f"({_list('f32[]', leaves)})"
    texts = "".join(f"b{i} {{\n  ROOT q = {shape} parameter(0)\n}}\n" for i in range(count))
    names = ", ".join(f"b{i}" for i in range(count))
    return _entry(
        "i = s32[] parameter(0)",
        f"p = {shape} parameter(1)",
        f"ROOT r = {shape} conditional(i, {_list('p', count)}), branch_computations={{{names}}}",
        before=texts,
    )


def _control(count: int, each: int) -> str:
    lines = [
        f"a{i + 1} = f32[4] negate(a{i}), control-predecessors={{{', '.join(f'a{j}' for j in range(max(0, i - each), i))}}}"
        for i in range(count)
    ]
    return _entry("a0 = f32[4] parameter(0)", *lines, f"ROOT r = f32[4] negate(a{count})")


def _nested_literal(count: int, depth: int) -> str:
    shape = f"f32[{count}{',1' * depth}]"
    return _entry(f"ROOT c = {shape} constant({{{_list('{' * depth + '1' + '}' * depth, count)}}})")


def _wide_permutation(rank: int, count: int) -> str:
    rank = min(rank, 64)
    ones, order = _list("1", rank), ", ".join(map(str, reversed(range(rank))))
    lines = [f"a{i + 1} = f32[{ones}] transpose(a{i}), dimensions={{{order}}}" for i in range(count)]
    return _entry(f"a0 = f32[{ones}] parameter(0)", *lines, f"ROOT r = f32[{ones}] negate(a{count})")


HLO: Mapping[str, Make] = {
    "plain instructions": lambda a, b: _entry("a0 = f32[4] parameter(0)", *(f"a{i + 1} = f32[4] negate(a{i})" for i in range(a * b)), f"ROOT r = f32[4] negate(a{a * b})"),
    "instructions without shapes": lambda a, b: _entry("a0 = f32[4] parameter(0)", *(f"a{i + 1} = add(a{i}, a{i})" for i in range(a * b)), f"ROOT r = negate(a{a * b})"),
    "short names": lambda a, b: _entry("a = f32[] parameter(0)", *(f"{chr(97 + i % 26)}{i // 26} = add(a, a)" for i in range(1, a * b)), "ROOT r = negate(a)"),
    "doubling tuples without shapes": _doubling,
    "doubling calls without shapes": _doubling_calls,
    "reads of a tuple": _elements,
    "nested loops of a tuple": _nested_loops,
    "uses of a fusion": _fusions,
    "chains of calls": _call_chain,
    "a nested tuple": lambda a, b: _root("(" * a + _list("f32[]", b) + ")" * a),
    "tuples in tuples": lambda a, b: _root("(" + _list("(" + _list("f32[4]{0}", b) + ")", a) + ")"),
    "a deep empty tuple": lambda a, b: _root(f"({_list('(' * a + ')' * a, b)})"),
    "many tiles": lambda a, b: _root(f"f32[8,8]{{1,0:T{'(2,2)' * a}{'(2)' * b}}}"),
    "a tile of many dimensions": lambda a, b: _root(f"f32[{_list('2', min(a, 64))}]{{{','.join(map(str, reversed(range(min(a, 64)))))}:T({_list('2', b)})}}"),
    "many dimensions": lambda a, b: _root(f"f32[{_list('1', a * b)}]"),
    "combined dimensions": lambda a, b: _root(f"f32[8,8]{{1,0:T({_list('*', a)},2)}}"),
    "large dimensions": lambda a, b: _root(f"f32[{'9' * a}]{{0:T({'9' * b})}}"),
    "a long literal": lambda a, b: _entry(f"ROOT c = f32[{a * b}] constant({{{_list('1', a * b)}}})"),
    "a long literal of pred": lambda a, b: _entry(f"ROOT c = pred[{a * b}] constant({{{','.join(repeat('1', a * b))}}})"),
    "a nested literal": _nested_literal,
    "a literal of many digits": lambda a, b: _entry(f"ROOT c = f32[{a}] constant({{{_list('1' * b, a)}}})"),
    "an elided literal": lambda a, b: _entry(f"ROOT c = f32[{a * 1000},{b * 1000}] constant({{...}})"),
    "a lone number as literal": lambda a, b: _entry(f"ROOT c = f32[{a * 1000},{b * 1000}] constant(1)"),
    "a literal of tuples": lambda a, b: _entry(f"ROOT c = ({_list('f32[]', a)}) constant(({_list('1', a)}))"),
    "metadata": lambda a, b: _entry("a0 = f32[4] parameter(0)", *(f'a{i + 1} = f32[4] negate(a{i}), metadata={{op_name="{"x/" * b}{i}" source_file="f" source_line=1}}' for i in range(a)), f"ROOT r = f32[4] negate(a{a})"),
    "escapes": lambda a, b: _root("f32[4]", f', metadata={{op_name="{chr(92) * 2 * a}{chr(92)}"{"x" * b}"}}'),
    "frontend attributes": lambda a, b: _root("f32[4]", f', frontend_attributes={{{",".join(f"k{i}={chr(34)}{chr(123) * b}{chr(34)}" for i in range(a))}}}'),
    "a configuration": lambda a, b: _root("f32[4]", f', backend_config={{"a":{"[" * a}{_list("1", b)}{"]" * a}}}'),
    "a configuration as text": lambda a, b: _root("f32[4]", f', backend_config={json.dumps("[" * a + _list("1", b) + "]" * a)}'),
    "listed groups": lambda a, b: _reduce_scatter("{" + ", ".join(f"{{{','.join(str(i * b + j) for j in range(b))}}}" for i in range(a)) + "}"),
    "groups as an iota": lambda a, b: _reduce_scatter(f"[{a * 1000},{b * 1000}]<=[{a * b * 1000_000}]"),
    "groups as a transposed iota": lambda a, b: _reduce_scatter(f"[{a * 1000},{b * 1000}]<=[{a * 1000},{b * 1000}]T(1,0)"),
    "groups of many reshaped dimensions": lambda a, b: _reduce_scatter(f"[{2 ** min(a, 60)},1]<=[{_list('2', min(a, 60))}]T({_list('0', b)})"),
    "a sharding as an iota": lambda a, b: _root("f32[1024,1024]", f", sharding={{devices=[{a * 1000},{b * 1000}]<=[{a * b * 1000_000}]}}"),
    "a sharding with a list": lambda a, b: _root("f32[1024,1024]", f", sharding={{devices=[{a},{b}]{','.join(map(str, range(a * b)))}}}"),
    "a sharding of subgroups": lambda a, b: _root("f32[1024,1024]", f", sharding={{devices=[1,1,{a * 1000},{b * 1000}]<=[{a * b * 1000_000}] last_tile_dims={{manual, replicated}}}}"),
    "a sharding of a tuple": lambda a, b: _root(f"({_list('f32[]', a)})", f", sharding={{{_list('{replicated}', a)}}}"),
    "a nested sharding": lambda a, b: _root("f32[4]", f", sharding={'{' * a}replicated{'}' * a}"),
    "nested parentheses": lambda a, b: _entry(_P, f"ROOT r = f32[4] negate({'(' * a}p{')' * a})"),
    "nested operands": lambda a, b: _entry("ROOT r = " + "f32[4] negate(" * a + "f32[4] parameter(0)" + ")" * a),
    "many operands": lambda a, b: _entry(_P, *(f"c{i} = f32[{4 * a}] concatenate({_list('p', a)}), dimensions={{0}}" for i in range(b)), "ROOT r = f32[4] negate(p)"),
    "operands with shapes": lambda a, b: _entry(_P, f"ROOT r = f32[{4 * a * b}] concatenate({_list('f32[4]{0} p', a * b)}), dimensions={{0}}"),
    "the same name": lambda a, b: _entry(*("p = f32[4] parameter(0)" for _ in range(a * b)), "ROOT r = f32[4] negate(p)"),
    "undefined names": lambda a, b: _entry(_P, *(f"a{i} = f32[4] negate(x{i})" for i in range(a * b)), "ROOT r = f32[4] negate(p)"),
    "wrong shapes": lambda a, b: _entry(_P, *(f"a{i} = f32[{i + 5}] negate(p)" for i in range(a * b)), "ROOT r = f32[4] negate(p)"),
    "comments": lambda a, b: _entry(_P, *(f"/*{'/' * b}*/ // {'*' * b}" for _ in range(a)), "ROOT r = f32[4] negate(p)"),
    "an open comment": lambda a, b: "HloModule m\n" + "/*" * a * b,
    "blank lines": lambda a, b: "HloModule m\n" + "\n" * a * b + "ENTRY e {\n  ROOT p = f32[] parameter(0)\n}\n",
    "computations": lambda a, b: _entry("ROOT p = f32[] parameter(0)", before="".join(f"c{i} {{\n  ROOT p = f32[] parameter(0)\n}}\n" for i in range(a * b))),
    "conditionals": _conditional,
    "aliases": _alias,
    "stack frames": _frames,
    "control predecessors": _control,
    "transposes of many dimensions": _wide_permutation,
    "an entry layout": lambda a, b: _entry("ROOT p = f32[4] parameter(0)", header=f", entry_computation_layout={{({_list('f32[4]{0}', a)})->f32[4]{{0}}}}"),
    "unknown attributes": lambda a, b: _root("f32[4]", "".join(f", zz{i}={{{'x' * b}}}" for i in range(a))),
    "repeated attributes": lambda a, b: _root("f32[4]", ", metadata={}" * a * b),
    "pairs": lambda a, b: _entry(_P, f"ROOT r = f32[4] collective-permute(p), source_target_pairs={{{','.join('{' + f'{i},{i}' + '}' for i in range(a * b))}}}"),
    "a window": lambda a, b: _entry(_P, f"ROOT r = f32[4] reduce-window(p, p), window={{size={'x'.join(repeat('1', a))} pad={'x'.join(repeat('0_0', b))}}}, to_apply=add", before=_ADD),
    "a log": lambda a, b: "nothing\n" * a + "I0102 03:04:05.678901  12345 hlo_pass.cc:77] x\n" * b + _root("f32[4]"),
    "names in a log": lambda a, b: "log\n" + "] HloModule a," * a + "\n" + "HloModule\n" * b,
    "braces in a header": lambda a, b: f"HloModule m, x={'{' * a}{'}' * b}\n\n" + _root("f32[4]").split("\n\n")[1],
    "reshapes of large arrays": lambda a, b: _entry(f"p = f32[{_list('2', min(a, 30))}] parameter(0)", *(f"r{i} = f32[{2 ** min(a, 30)}] reshape(p)" for i in range(b)), "ROOT r = f32[] constant(1)"),
}  # fmt: skip


def _mlir(body: str, argument: str = "tensor<4xf32>") -> str:
    return f"func.func public @main(%a: {argument}) -> {argument} {{\n  {body}\n  return %a : {argument}\n}}\n"


def _locations(count: int, uses: int) -> str:
    chain = "\n".join(f"#l{i + 1} = loc(callsite(#l{i} at #l{i}))" for i in range(count))
    negates = "\n  ".join(f"%{i} = stablehlo.negate %a : tensor<4xf32> loc(#l{count})" for i in range(uses))
    return f"#l0 = loc(unknown)\n{chain}\n{_mlir(negates)}"


def _attributes(count: int, copies: int) -> str:
    chain = "\n".join(f"#a{i + 1} = [{_list(f'#a{i}', copies + 1)}]" for i in range(count))
    return f"#a0 = 1 : i32\n{chain}\nmodule attributes {{x = #a{count}}} {{\n}}\n"


def _types(count: int, copies: int) -> str:
    chain = "\n".join(f"!t{i + 1} = tuple<{_list(f'!t{i}', copies + 1)}>" for i in range(count))
    return f"!t0 = tensor<4xf32>\n{chain}\nfunc.func private @f(!t{count})\n"


MLIR: Mapping[str, Make] = {
    "plain operations": lambda a, b: _mlir("\n  ".join(f"%{i} = stablehlo.negate %a : tensor<4xf32>" for i in range(a * b))),
    "a nested tuple": lambda a, b: f"func.func private @f({'tuple<' * a}tensor<4xf32>{'>' * a})\n",
    "a nested attribute": lambda a, b: f"module attributes {{x = {'[' * a}{_list('1', b)}{']' * a}}} {{\n}}\n",
    "doubling attributes": _attributes,
    "doubling types": _types,
    "doubling locations": _locations,
    "a splat": lambda a, b: _mlir(f"%c = stablehlo.constant dense<1.0> : tensor<{a * 1000}x{b * 1000}xf32>"),
    "a dense literal": lambda a, b: _mlir(f"%c = stablehlo.constant dense<[{_list('1.0', a * b)}]> : tensor<{a * b}xf32>"),
    "a dense literal in hexadecimal": lambda a, b: _mlir(f'%c = stablehlo.constant dense<"0x{"00" * 4 * a * b}"> : tensor<{a * b}xf32>'),
    "groups of a splat": lambda a, b: _mlir(f"%0 = \"stablehlo.all_gather\"(%a) {{all_gather_dim = 0 : i64, replica_groups = dense<0> : tensor<{a}x{b}xi64>}} : (tensor<4xf32>) -> tensor<{4 * b}xf32>"),
    "slices of many dimensions": lambda a, b: f"func.func private @f(tensor<{'1x' * a * b}f32>)\n",
    "a layout": lambda a, b: f'func.func public @main(%a: tensor<4xf32> {{mhlo.layout_mode = "{{0:T{"(2)" * a}}}"}}) -> tensor<4xf32> {{\n  return %a : tensor<4xf32>\n}}\n',
    "a sharding": lambda a, b: f'func.func public @main(%a: tensor<4xf32> {{mhlo.sharding = "{{devices=[{a * 1000},{b * 1000}]<=[{a * b * 1000_000}]}}"}}) -> tensor<4xf32> {{\n  return %a : tensor<4xf32>\n}}\n',
    "functions": lambda a, b: "".join(f"func.func private @f{i}()\n" for i in range(a * b)),
    "regions": lambda a, b: _mlir('"x.y"() ({' * a + "}) : () -> ()" * a),
    "comments": lambda a, b: "// x\n" * a * b + "module {\n}\n",
    "names": lambda a, b: f'module @"{chr(92) + "00" * a * b}" {{\n}}\n',
}  # fmt: skip


def _varint(value: int) -> bytes:
    return bytes([value]) if value < 128 else bytes([value & 127 | 128]) + _varint(value >> 7)


def _field(number: int, value: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(value)) + value


PROTO: Mapping[str, Callable[[int, int], bytes]] = {
    "short fields": lambda a, b: _field(1, b"m") + b"\x38\x01" * a * b + _field(3, b""),
    "computations": lambda a, b: _field(1, b"m") + _field(3, _field(1, b"c" * b)) * a,
    "nested messages": lambda a, b: _nested(a % 400) + b"x" * b,
}


def _nested(depth: int) -> bytes:
    data = b"m"
    for _ in range(depth):
        data = _field(1, data)
    return data


def _member(make: Make) -> Callable[[int, int], bytes]:
    return lambda a, b: gzip.compress(make(a, b).encode(), mtime=0)


CONTAINERS: Mapping[str, Callable[[int, int], bytes]] = {
    "blank lines": lambda a, b: gzip.compress(b"HloModule m\n" + b"\n" * a * b * 1000, mtime=0),
    "empty streams": lambda a, b: gzip.compress(b"", mtime=0) * a * b,
}


def encoded(make: Make) -> Callable[[int, int], bytes]:
    """Returns a generator of bytes."""
    return lambda a, b: make(a, b).encode()


FAMILIES: Mapping[str, Mapping[str, Callable[[int, int], bytes]]] = {
    "HLO text": {name: encoded(make) for name, make in HLO.items()},
    "MLIR text": {name: encoded(make) for name, make in MLIR.items()},
    "proto": PROTO,
    "compressed": CONTAINERS,
}
