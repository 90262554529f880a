# ruff: noqa: E501
"""The table of hostile inputs: what breaks readers, what asks for too much, what means nothing, what would act."""

from __future__ import annotations

import io
import os
import random
import zipfile
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path

import numpy as np

from tests.hostile.case import CHECK, EXPAND, OPT, RUN, Case, Command, Data
from tests.hostile.nonsense import ACCEPTED, body_module, nonsense
from tests.jaxlib import DIES_OF_DIVISION_BY_ZERO
from tests.paths import ROOT

_NEGATE = (ROOT / "examples/negate.hlo").read_bytes()
_NEGATE_FILE = str(ROOT / "examples/negate.hlo")
_ATTENTION = (ROOT / "examples/attention.mlir").read_bytes()
_ESCAPE = "\x1b]0;owned\x07\x1b[31m"
_ALL: tuple[Command, ...] = (OPT, CHECK, RUN, EXPAND)


@cache
def cases() -> tuple[Case, ...]:
    """Returns every case; names occur once."""
    makers = (_nonsense, _mlir_nonsense, _sizes, _bombs, _encodings, _arrays, _files, _specs, _layouts, _acts, _mutants)
    return tuple(case for maker in makers for case in maker())


def _nonsense() -> Iterator[Case]:
    for name, text in nonsense().items():
        yield Case(f"nonsense: {name}", text.encode(), (OPT, CHECK), is_refused=name not in ACCEPTED)


def _mlir(body: str, arguments: str = "%a: tensor<4xf32>", result: str = "tensor<4xf32>") -> bytes:
    return f"func.func public @main({arguments}) -> {result} {{\n  {body}\n}}\n".encode()


def _mlir_nonsense() -> Iterator[Case]:
    bodies = {
        "another type": "%0 = stablehlo.add %a, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi32>\n  return %0 : tensor<4xi32>",
        "another shape": "%0 = stablehlo.reshape %a : (tensor<4xf32>) -> tensor<5xf32>\n  return %0 : tensor<5xf32>",
        "no such value": "return %b : tensor<4xf32>",
        "no such op": '%0 = "stablehlo.frobnicate"(%a) : (tensor<4xf32>) -> tensor<4xf32>\n  return %0 : tensor<4xf32>',
        "no such dialect": "%0 = nobody.does %a : tensor<4xf32>\n  return %0 : tensor<4xf32>",
        "no permutation": "%0 = stablehlo.transpose %a, dims = [1] : (tensor<4xf32>) -> tensor<4xf32>\n  return %0 : tensor<4xf32>",
        "slice beyond": "%0 = stablehlo.slice %a [0:9] : (tensor<4xf32>) -> tensor<9xf32>\n  return %0 : tensor<9xf32>",
        "no return": "%0 = stablehlo.negate %a : tensor<4xf32>",
        "call of nobody": "%0 = call @nobody(%a) : (tensor<4xf32>) -> tensor<4xf32>\n  return %0 : tensor<4xf32>",
        "negative size": "%0 = stablehlo.negate %a : tensor<-4xf32>\n  return %0 : tensor<4xf32>",
        "literal too short": "%0 = stablehlo.constant dense<[1.0, 2.0]> : tensor<4xf32>\n  return %0 : tensor<4xf32>",
        "unclosed": "%0 = stablehlo.negate %a : tensor<4xf32",
    }
    for name, body in bodies.items():
        yield Case(f"stablehlo: {name}", _mlir(body), (OPT, CHECK), is_refused=True)


def _hlo(body: str) -> bytes:
    return f"HloModule m\n\nENTRY main {{\n  {body}\n}}\n".encode()


def _sizes() -> Iterator[Case]:
    big = {
        "parameter": "ROOT p = f32[1000000,1000000] parameter(0)",
        "two parameters": "p = f32[30000,30000] parameter(0)\n  q = f32[30000,30000] parameter(1)\n  ROOT r = f32[30000,30000] add(p, q)",
        "pad": "p = f32[4] parameter(0)\n  z = f32[] constant(0)\n  ROOT r = f32[1000000004] pad(p, z), padding=0_1000000000",
        "interior pad": "p = f32[4] parameter(0)\n  z = f32[] constant(0)\n  ROOT r = f32[3000000004] pad(p, z), padding=0_0_1000000000",
        "broadcast": "c = f32[] constant(1)\n  ROOT r = f32[100000,100000,100] broadcast(c), dimensions={}",
        "iota": "i = s32[4000000,4000000] iota(), iota_dimension=1\n  ROOT r = s32[1,1] slice(i), slice={[0:1], [0:1]}",
        "product": "p = f32[70000,1] parameter(0)\n  q = f32[1,70000] parameter(1)\n  ROOT r = f32[70000,70000] dot(p, q), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
        "concatenate": "p = f32[9] parameter(0)\n  b = f32[2000000000,9] broadcast(p), dimensions={1}\n  ROOT r = f32[4000000000,9] concatenate(b, b), dimensions={0}",
        "zero times 2^62": "ROOT p = f32[0,4611686018427387904,4] parameter(0)",
        "2^63 bytes": "ROOT p = f64[1152921504606846976] parameter(0)",
        "2^64 elements": "c = f32[] constant(1)\n  b = f32[4294967296,4294967296] broadcast(c), dimensions={}\n  ROOT r = f32[1,1] slice(b), slice={[0:1], [0:1]}",
        "rank 70": f"ROOT p = f32[{','.join(['1'] * 70)}] parameter(0)",
        "rank 5000": f"ROOT p = f32[{','.join(['1'] * 5000)}] parameter(0)",
        "tuple of large ones": "ROOT p = (f32[100000,100000], (f32[100000,100000])) parameter(0)",
        "gigabyte of bits": "ROOT p = u4[40000,100000] parameter(0)",
    }
    for name, body in big.items():
        yield Case(f"size: {name}", _hlo(body), (CHECK, RUN, OPT))
    for tiles in ("T(40000,40000)", "T(2)" * 2000, "T(1000000007)", "T(8,128)" * 300, "T(2,2)(1,1)(1,1)"):
        text = _NEGATE.decode().replace("T(2,2)", tiles).encode()
        physical: Command = ("check", "{F}", "-p", "expand-tiling{interface=physical}")
        yield Case(f"size: tiles {tiles[:20]}", text, (("opt", "{F}", "-p", "expand-tiling"), physical))
    convolution = "p = f32[1,1,8] parameter(0)\n  k = f32[1,1,1] parameter(1)\n  ROOT c = f32[1,1,2000000008] "
    yield Case(
        "size: convolution",
        _hlo(convolution + "convolution(p, k), window={size=1 pad=1000000000_1000000000}, dim_labels=bf0_oi0->bf0"),
        (CHECK, RUN, OPT),
    )
    splat = (
        "%0 = stablehlo.constant dense<1.0> : tensor<1000000x1000000xf32>\n  return %0 : tensor<1000000x1000000xf32>"
    )
    yield Case("size: splat", _mlir(splat, "", "tensor<1000000x1000000xf32>"), _ALL)


def _calls(count: int, calls: int) -> bytes:
    text = "HloModule m\nf0 {\n  p = f32[4] parameter(0)\n  ROOT r = f32[4] negate(p)\n}\n"
    for number in range(1, count):
        chain = "\n".join(
            f"  {'ROOT ' if i == calls - 1 else ''}c{i} = f32[4] call({'p' if i == 0 else f'c{i - 1}'}), to_apply=f{number - 1}"
            for i in range(calls)
        )
        text += f"f{number} {{\n  p = f32[4] parameter(0)\n{chain}\n}}\n"
    text += f"ENTRY e {{\n  p = f32[4] parameter(0)\n  ROOT r = f32[4] call(p), to_apply=f{count - 1}\n}}\n"
    return text.encode()


def _bombs() -> Iterator[Case]:
    yield Case("bomb: calls that double 40 times", _calls(40, 2), (OPT, CHECK, RUN))
    yield Case("bomb: calls that grow tenfold 12 times", _calls(12, 10), (CHECK, RUN, OPT))
    yield Case("bomb: calls 3000 deep", partial(_calls, 3000, 1), (OPT, CHECK))
    yield Case("bomb: calls 20000 deep", partial(_calls, 20000, 1), (OPT, RUN))
    chain = "\n".join(f"  a{i + 1} = f32[4] add(a{i}, a{i})" for i in range(30000))
    text = f"HloModule m\nENTRY e {{\n  a0 = f32[4] parameter(0)\n{chain}\n  ROOT r = f32[4] negate(a30000)\n}}\n"
    yield Case("bomb: a chain of 30000 ops", text.encode(), (OPT,))
    squares = "\n".join(f"  a{i + 1} = s32[4] multiply(a{i}, a{i})" for i in range(200))
    one = "o = s32[4] constant({1,1,1,1})\n  ROOT r = s32[4] add(a200, o)"
    yield Case("bomb: 200 squares of integers", _hlo(f"a0 = s32[4] parameter(0)\n{squares}\n  {one}"), (CHECK,))
    shape = "f32[1]"
    for _ in range(13):
        shape = f"({shape}, {shape})"
    yield Case("bomb: a tuple of 2^13 leaves", _hlo(f"ROOT p = {shape} parameter(0)"), (OPT, CHECK))
    deep = "(" * 5000 + "f32[1]" + ")" * 5000
    yield Case("bomb: a tuple 5000 deep", _hlo(f"ROOT p = {deep} parameter(0)"), (OPT,))
    yield Case("bomb: braces 100000 deep", _hlo("ROOT p = f32[4] parameter(0), metadata=" + "{" * 100000), (OPT,))
    yield Case("bomb: a name of 1 MB", _hlo(f"ROOT {'p' * 1_000_000} = f32[4] parameter(0)"), (OPT,))
    yield Case("bomb: digits", _hlo(f"ROOT p = f32[{'9' * 100_000}] parameter(0)"), (OPT,))
    yield Case("bomb: a line of 1 MB", _hlo("x" * 1_000_000), (OPT,))
    yield Case("bomb: parentheses", ("ROOT x = " + "(" * 200_000).encode(), (OPT,))
    yield Case(
        "bomb: regions 2000 deep", _mlir("%0 = " + "stablehlo.while(%x = %a) : tensor<4xf32> cond {" * 2000), (OPT,)
    )
    lists = "#a0 = [1]\n" + "".join(f"#a{i} = [#a{i - 1}, #a{i - 1}]\n" for i in range(1, 40))
    using = "%0 = stablehlo.negate %a {x = #a39} : tensor<4xf32>\n  return %0 : tensor<4xf32>"
    yield Case("bomb: aliases that double 40 times", lists.encode() + _mlir(using), (OPT, CHECK), is_refused=True)
    types = "!a0 = tuple<f32>\n" + "".join(f"!a{i} = tuple<!a{i - 1}, !a{i - 1}>\n" for i in range(1, 30))
    given = _mlir("return %a : tensor<4xf32>", "%a: tensor<4xf32>, %b: !a29")
    yield Case("bomb: types that double 30 times", types.encode() + given, (OPT, CHECK), is_refused=True)
    resource = '{-#\n dialect_resources: { builtin: { x: "0x04000000' + "00" * 5_000_000 + '" } }\n#-}\n'
    yield Case("bomb: a resource of 5 MB", _ATTENTION + resource.encode(), (OPT,))
    yield Case("bomb: types 50000 deep", _mlir("return", "%a: " + "tuple<" * 50000), (OPT,))
    endless = """c {
  p = s32[] parameter(0)
  ROOT t = pred[] constant(true)
}
b {
  p = s32[] parameter(0)
  o = s32[] constant(1)
  ROOT n = s32[] add(p, o)
}
ENTRY main {
  p = s32[] parameter(0)
  ROOT w = s32[] while(p), condition=c, body=b
}
"""
    loop: Command = ("check", "{F}", "-p", "strip-layouts", "--timeout", "3", "--engines", "xla,interpreter")
    yield Case(
        "bomb: a loop that never ends", f"HloModule m\n{endless}".encode(), (("run", "{F}", "--timeout", "3"), loop)
    )
    passes = ",".join(["annotate-layouts{target=tpu-v5e},expand-tiling"] * 120)
    # Each round makes the module four times as long: nothing but the limit of time ends it.
    yield Case("bomb: a pipeline of 240 passes", _NEGATE, (("opt", "{F}", "-p", passes, "--timeout", "4"),))


def _encodings() -> Iterator[Case]:
    text = _NEGATE.decode()
    yield Case("encoding: utf-16", text.encode("utf-16"), says="UTF-16", is_refused=True)
    yield Case("encoding: utf-32", text.encode("utf-32"), is_refused=True)
    for name, data in {
        "latin": text.replace("negate", "n\xe9gate").encode("latin-1"),
        "bare cr": text.replace("\n", "\r").encode(),
        "nul": text.encode() + b"\0",
        "byte order marks": b"\xef\xbb\xbf" * 3 + text.encode(),
        "cut utf-8": text.encode() + b"\xe2\x80",
        "overlong": b"\xc0\xaf" + text.encode(),
        "nothing": b"",
        "a blank": b" \n\t\n",
        "only a comment": b"// nothing\n",
        "an open comment": b"/* " + text.encode(),
    }.items():
        yield Case(f"encoding: {name}", data, (OPT, CHECK))
    marks = {
        "escape": _ESCAPE,
        "c1": "\x9b31m",
        "bidi": "\u202e",
        "isolate": "\u2067",
        "bell": "\x07",
        "delete": "\x7f",
    }
    marks |= {"separator": "\u2028", "return": "\r", "mark": "\u200f", "backspace": "\b\b\b"}
    for name, mark in marks.items():
        yield Case(f"terminal: {name} for an opcode", text.replace("negate(", f"{mark}(").encode(), (OPT, CHECK))
        yield Case(f"terminal: {name} in a name", text.replace("ROOT y", f"ROOT y{mark}").encode(), (OPT, CHECK))
        yield Case(f"terminal: {name} in stablehlo", _mlir(f"%{mark} = {mark}"), (OPT,))
        yield Case(f"terminal: {name} in a spec", _NEGATE, (("opt", "{F}", "-p", f"expand{mark}"),))
        yield Case(f"terminal: {name} in a file name", b"", (("opt", f"{{D}}/{mark}"), ("check", f"{mark}", f"{mark}")))
        yield Case(
            f"terminal: {name} in a shape", b"", (("explain", f"f32[3]{{0:{mark}}}"), ("explain", "--index", mark, "1"))
        )
        yield Case(f"terminal: {name} for a command", b"", ((f"opt{mark}",), ("opt", f"--{mark}")))


def _npz(**arrays: object) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=True, **{name: np.asarray(array) for name, array in arrays.items()})
    return buffer.getvalue()


def _zip(members: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in members.items():
            file.writestr(name, data)
    return buffer.getvalue()


def _npy(header: str, data: bytes = b"", version: int = 1) -> bytes:
    length = len(header).to_bytes(2 if version == 1 else 4, "little")
    return b"\x93NUMPY" + bytes([version, 0]) + length + header.encode("latin-1") + data


def _arrays() -> Iterator[Case]:
    good = np.zeros((3, 5), np.float32)
    described = "{'descr': '<f4', 'fortran_order': False, 'shape': %s, }"
    right = described % "(3, 5)"
    data = good.tobytes()
    bodies: dict[str, Data] = {
        "another shape": _npz(in0=np.zeros((5, 3), np.float32)),
        "another type": _npz(in0=np.zeros((3, 5))),
        "objects": _npz(in0=np.array([{}], object)),
        "words": _npz(in0=np.array(["a"])),
        "records": _npz(in0=np.zeros((3, 5), "f2,f2")),
        "a void": _npz(in0=np.zeros((3, 5), "V4")),
        "no in0": _npz(in1=good),
        "in00": _zip({"in00.npy": _npy(right, data)}),
        "arabic digits": _zip({"in\u0660.npy": _npy(right, data)}),
        "superscript": _zip({"in\u00b2.npy": _npy(right, data)}),
        "a path": _zip({"../in0.npy": _npy(right, data)}),
        "a long number": _zip({f"in{'9' * 5000}.npy": _npy(right, data)}),
        "a bomb": lambda: _zip({"in0.npy": _npy(described % "(200000000,)", bytes(200_000_000))}),
        "a bomb behind a right header": lambda: _zip({"in0.npy": _npy(right, bytes(200_000_000))}),
        "10^12 claimed": _zip({"in0.npy": _npy(described % "(1000000000000,)", data)}),
        "2^64 claimed": _zip({"in0.npy": _npy(described % "(18446744073709551616,)", data)}),
        "negative": _zip({"in0.npy": _npy(described % "(-3, 5)", data)}),
        "too little data": _zip({"in0.npy": _npy(right, data[:-1])}),
        "too much data": _zip({"in0.npy": _npy(right, data + b"x")}),
        "code": _zip({"in0.npy": _npy("__import__('os').abort()", data)}),
        "brackets": _zip({"in0.npy": _npy("(" * 9000, data)}),
        "a header of 20 MB": lambda: _zip({"in0.npy": _npy(" " * 20_000_000, data, version=2)}),
        "version 9": _zip({"in0.npy": _npy(right, data, version=9)}),
        "no array": _zip({"in0.npy": b"hello"}),
        "an empty member": _zip({"in0.npy": b""}),
        "no members": _zip({}),
        "no zip": b"PK\x03\x04hello",
        "a module": _NEGATE,
        "nothing": b"",
    }
    feed: Command = ("run", _NEGATE_FILE, "--inputs", "{F}", "--timeout", "5")
    for name, body in bodies.items():
        yield Case(f"npz: {name}", body, (feed,), is_refused=True)
    whole = _npz(in0=good)
    yield Case(
        "npz: compared", _npz(out0=np.zeros((9, 9))), (("run", _NEGATE_FILE, "--expect", "{F}"),), is_refused=True
    )
    chance = random.Random(3)
    for number in range(12):
        cut = bytearray(whole[: chance.randrange(len(whole))] if number % 3 == 0 else whole)
        for _ in range(number):
            if cut:
                cut[chance.randrange(len(cut))] = chance.randrange(256)
        yield Case(f"npz: damage {number}", bytes(cut), (feed,))


def _files() -> Iterator[Case]:
    makers: dict[str, Callable[[Path], object]] = {
        "a pipe": os.mkfifo,
        "a directory": os.mkdir,
        "nothing there": lambda path: None,
        "a loop of links": lambda path: path.symlink_to(path),
        "the null device": lambda path: path.symlink_to("/dev/null"),
        "the zero device": lambda path: path.symlink_to("/dev/zero"),
        "random bytes": lambda path: path.symlink_to("/dev/urandom"),
        "a full device": lambda path: path.symlink_to("/dev/full"),
        "its own memory": lambda path: path.symlink_to("/proc/self/mem"),
        "its own pages": lambda path: path.symlink_to("/proc/self/pagemap"),
        "a proc file": lambda path: path.symlink_to("/proc/self/maps"),
        "100 GB of nothing": _make_sparse,
    }
    for name, make in makers.items():

        def made(path: Path, make: Callable[[Path], object] = make) -> None:
            make(path)

        for command in (
            OPT,
            CHECK,
            ("run", _NEGATE_FILE, "--inputs", "{F}"),
            ("opt", _NEGATE_FILE, "--pipelines", "{F}"),
        ):
            what = " ".join(command[2:3]) or command[0]
            yield Case(f"file: {name} ({command[0]} {what[-12:]})", commands=(command,), make=made, is_refused=True)
    write: dict[str, tuple[str, ...]] = {
        "a missing directory": ("-o", "{D}/no/such"),
        "a name of 300": ("-o", "{D}/" + "x" * 300),
        "a name of 250": ("-o", "{D}/" + "x" * 250),
        "a full device": ("-o", "/dev/full"),
        "a dump into a file": ("-p", "expand-tiling", "--dump-dir", "{F}"),
    }
    for name, options in write.items():
        yield Case(f"output: {name}", _NEGATE, (("opt", "{F}", *options),))
    over: Command = ("run", _NEGATE_FILE, "--inputs", "{F}", "--outputs", "{F}")
    yield Case("output: over an input", _npz(in0=np.zeros((3, 5), np.float32)), (over,), says="would overwrite")
    yield Case("output: arrays to a full device", _NEGATE, (("run", "{F}", "--outputs", "/dev/full"),), is_refused=True)


def _make_sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(100 << 30)


def _specs() -> Iterator[Case]:
    specs = ["", ",", "a,,b", "frobnicate", "expand-tiling{", "expand-tiling}", "expand-tiling{x=1}", "{" * 3000]
    specs += ["expand-tiling{interface=}", "expand-tiling{interface=9}", "annotate-layouts{target=}", "a" * 100_000]
    specs += ["annotate-layouts{target=tpu-v99}", "expand-tiling{interface=physical interface=physical}", "\udcff"]
    for number, spec in enumerate(specs):
        yield Case(f"spec: {number} {spec[:20]!r}", _NEGATE, (("opt", "{F}", "-p", spec),))


def _layouts() -> Iterator[Case]:
    shapes = [
        "",
        "f32",
        "f32[",
        "f32[3]{",
        "f32[3]{0:}",
        "f32[3]{0:T}",
        "f32[3]{0:T(",
        "f32[3]{0:T(0)}",
        "f32[3]{0:T(-1)}",
    ]
    shapes += ["f32[3]{1}", "f32[3]{0,0}", "f32[-1]", "f32[?]", "q8[3]", "f32[3]{0:E(4)}", "f32[3]{0:S(99999999999)}"]
    shapes += ["f32[3]{0:L(0)}", "f32[9223372036854775808]", "f32[2147483647,2147483647,2147483647]{2,1,0:T(8,128)}"]
    shapes += ["f32[3,5]{1,0:T(*,2)}", "f32[3,5]{1,0:T(*)}", "token[3]", "(" * 3000, f"f32[3]{{0:{'T(2)' * 1000}}}"]
    shapes += ["f32[999983,999979]{1,0:T(8,128)}", "f32[" + "2," * 29 + "2]", "\u0663", "f32[\u0663]"]
    for number, shape in enumerate(shapes):
        again: Command = ("explain", "--bitcast", shape, "f32[3,5]{1,0:T(2,2)}")
        yield Case(
            f"layout: {number} {shape[:24]!r}", b"", (("explain", shape), ("explain", "--index", shape, "1,1"), again)
        )


def _acts() -> Iterator[Case]:
    callback = body_module(
        'ROOT c = f32[4] custom-call(v), custom_call_target="xla_ffi_python_cpu_callback", '
        "api_version=API_VERSION_TYPED_FFI, backend_config={index = 99 : ui64}"
    )
    proof: Command = ("check", "{F}", "{F}", "--engines", "proof")
    yield Case("act: a callback in hlo", callback.encode(), (CHECK, RUN, proof), says="xla_ffi_python", is_refused=True)
    scheduled = callback.replace("HloModule m", "HloModule m, is_scheduled=true")
    yield Case("act: a callback in a dump", scheduled.encode(), (CHECK, RUN), says="xla_ffi_python", is_refused=True)
    bodies = {
        "a callback": "@xla_ffi_python_cpu_callback(%a) {backend_config = {index = 99 : ui64}, api_version = 4 : i32}",
        "a partitioned callback": "@xla_ffi_partitioned_python_cpu_callback(%a) {backend_config = {key = 1 : ui64}}",
        "malloc": "@malloc(%a)",
        "a decomposition of nothing": "@lapack_spotrf_ffi(%a) {backend_config = {uplo = 76 : ui8}, api_version = 4 : i32}",
        "onednn": "@__onednn$matmul(%a)",
        "a check that writes": '@check.expect_serialized_eq(%a) {probe_id = "x", iteration = 1 : ui32}',
        "a barrier of nobody": "@nobody(%a)",
    }
    for name, call in bodies.items():
        body = f"%0 = stablehlo.custom_call {call} : (tensor<4xf32>) -> tensor<4xf32>\n  return %0 : tensor<4xf32>"
        yield Case(f"act: {name}", _mlir(body), (CHECK, RUN), is_refused=True)
    probe = '%0 = "interpreter.probe"(%a) {probe_id = "../x"} : (tensor<4xf32>) -> tensor<4xf32>\n  return %0 : tensor<4xf32>'
    yield Case(
        "act: a probe", _mlir(probe), (("run", "{F}", "--engine", "interpreter"),), says="writes files", is_refused=True
    )
    waiting = (
        "%t = stablehlo.create_token : !stablehlo.token\n"
        '  %0:2 = "stablehlo.infeed"(%t) : (!stablehlo.token) -> (tensor<4xf32>, !stablehlo.token)\n'
        "  return %0#0 : tensor<4xf32>"
    )
    yield Case("act: infeed", _mlir(waiting), (RUN,), says="waits", is_refused=True)
    started = (
        "s = ((f32[4]), f32[4], u32[]) custom-call-start(v), "
        'custom_call_target="xla_ffi_python_cpu_callback"\n  ROOT d = f32[4] custom-call-done(s)'
    )
    yield Case(
        "act: a callback that is waited for", body_module(started).encode(), (CHECK, RUN, proof), is_refused=True
    )
    divided = "p = s32[2] constant({1, 2})\n  z = s32[2] constant({0, 1})\n  ROOT r = s32[2] divide(p, z)"
    yield Case(
        "act: division by 0", _hlo(divided), (RUN, CHECK), says="divided by 0" if DIES_OF_DIVISION_BY_ZERO else ""
    )


def _mutants() -> Iterator[Case]:
    chance = random.Random(11)
    files = [path for path in sorted((ROOT / "examples").glob("*.*")) if path.suffix in (".hlo", ".mlir")]
    for number in range(60):
        file = files[number % len(files)]
        data = bytearray(file.read_bytes())
        for _ in range(chance.choice((1, 1, 3, 20))):
            position = chance.randrange(len(data))
            kind = chance.randrange(4)
            if kind == 0:
                data[position] = chance.randrange(256)
            elif kind == 1:
                del data[position : position + chance.randrange(1, 40)]
            elif kind == 2:
                other = chance.randrange(len(data))
                data[position:position] = data[other : other + chance.randrange(1, 60)]
            else:
                data[position:position] = str(chance.randrange(10**9)).encode()
        yield Case(f"mutant {number} of {file.name}", bytes(data), (OPT, CHECK))
