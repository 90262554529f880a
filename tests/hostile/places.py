# ruff: noqa: E501
"""Hostile names, links and directories, and files that options name: tables, pairs, certificates, results."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.hostile.case import Case, Command
from tests.paths import ROOT

_NEGATE = ROOT / "examples/negate.hlo"
_TEXT = _NEGATE.read_bytes()
_ATTENTION = str(ROOT / "examples/attention.mlir")
_GOOD = str(_NEGATE)
_LONGEST_NAME = 255
_NAMES = {
    "an option": "-rf",
    "a long option": "--output=x",
    "a newline": "a\nb.hlo",
    "an escape": "\x1b]0;owned\x07\x1b[31m.hlo",
    "bidi": "a\u202eolh.b",
    "bytes": "\udcff\udcfe.hlo",
    "255 bytes": "x" * 251 + ".hlo",
    "256 bytes": "x" * 252 + ".hlo",
    "a blank": " .hlo",
    "quotes": "'\"`$(id)`.hlo",
    "a formula": "=cmd|' C calc'!A0.hlo",
    "a tag": "<script>alert(1)<.hlo",
    "braces": "{{data}}{style}.hlo",
    "a star": "*.hlo",
    "brackets": "[a-z].hlo",
    "a number sign": "a#b?c=d&e.hlo",
    "a URL": "s3:",
    "a percent sign": "%s%n%2e%2e.hlo",
    "a dot": "...hlo",
    "c1": "\x9b31m.hlo",
    "a separator": "a\u2028b.hlo",
}


def cases() -> Iterator[Case]:
    """Yields cases whose file is called or linked in a hostile way, or is named by an option."""
    yield from _names()
    yield from _links()
    yield from _options()
    yield from _formulas()


def _named(name: str, text: bytes = _TEXT) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        if len(name.encode("utf-8", "surrogateescape")) <= _LONGEST_NAME:
            (path.parent / name).write_bytes(text)

    return make


def _names() -> Iterator[Case]:
    for what, name in _NAMES.items():
        path = f"{{D}}/{name}"
        commands: tuple[Command, ...] = (
            ("opt", path),
            ("opt", "{D}", "-o", "{D}/o/"),
            ("opt", path, "-o", "{D}/o/", "--jobs", "2"),
            ("check", path, path, "--engines", "proof", "--json"),
            ("check", path, "-p", "expand-tiling", "--engines", "proof", "--results", "{D}/rows.parquet"),
            ("report", path, "--target", "tpu-v5e", "-o", "{D}/x.html"),
            ("report", path, "--target", "tpu-v5e", "-o", "{D}/x.json"),
            ("opt", name),
            ("opt", _GOOD, "-o", path),
            ("run", path, "--engine", "reference", "--outputs", "{D}/out.npz"),
        )
        for number, command in enumerate(commands):
            yield Case(f"name: {what} {number}", commands=(command,), make=_named(name))
        yield Case(
            f"name: {what}, damaged",
            commands=(("opt", path), ("check", path, path)),
            make=_named(name, b"HloModule m\nENTRY e {\n x\n"),
        )


def _links() -> Iterator[Case]:
    for what, target in {
        "passwords": "/etc/passwd",
        "its own memory": "/proc/self/mem",
        "its own environment": "/proc/self/environ",
        "a terminal": "/dev/tty",
        "endless zeros": "/dev/zero",
        "its own input": "/dev/stdin",
        "a parent": "..",
        "the root": "/",
        "itself": "input/module_0004.x.before_optimizations.hlo",
        "a good file": _GOOD,
        "nothing": "/no/such",
    }.items():

        def make(path: Path, target: str = target) -> None:
            path.mkdir()
            (path / "module_0001.y.before_optimizations.hlo").write_bytes(_TEXT)
            os.symlink(target, path / "module_0004.x.before_optimizations.hlo")

        for command in (
            ("opt", "{F}", "-o", "{D}/o/"),
            ("check", "{F}", "-p", "expand-tiling", "--engines", "proof"),
            ("report", "{F}"),
            ("opt", "{F}/module_0004.x.before_optimizations.hlo"),
        ):
            yield Case(f"link: {what} {command[0]} {len(command)}", commands=(command,), make=make)

    def deep(path: Path) -> None:
        for _ in range(120):
            path = path / "d"
            path.mkdir(parents=True, exist_ok=True)
        os.symlink(path.parent, path / "up")

    def many(path: Path) -> None:
        path.mkdir()
        for i in range(3000):
            (path / f"module_{i:04}.x.before_optimizations.hlo").write_bytes(b"HloModule m\n")

    yield Case("directory: deep", commands=(("opt", "{F}", "-o", "{D}/o/"),), make=deep)
    yield Case("directory: 3000 empty modules", commands=(("opt", "{F}", "-o", "{D}/o/"),), make=many)


_GARBAGE: dict[str, bytes] = {
    "nothing": b"",
    "zeros": bytes(1000),
    "bytes": bytes(range(256)) * 10,
    "a module": _TEXT,
    "a line of 5 MB": b"x" * 5_000_000,
    "brackets": b"[" * 100_000,
    "braces": b'{"a":' * 100_000,
    "bidi": "\u202e\x1b]0;x\x07".encode(),
    "lines": b"a b\n" * 50_000,
    "paths": b"/etc/passwd /etc/shadow\n/dev/zero /dev/zero\n",
    "quotes": b"'\"" * 1000 + b"\n",
    "urls": b"http://127.0.0.1:9/x http://127.0.0.1:9/y\n",
    "options": b"-rf --output=x\n",
    "toml": b'[p]\nsummary = "s"\npasses = "' + b"expand-tiling," * 5000 + b'"\n',
    "a table of itself": b'[p]\nsummary = "s"\npasses = "p"\n',
    "toml numbers": b"a = " + b"9" * 100_000 + b"\n",
    "toml keys": b".".join([b"a"] * 20_000) + b" = 1\n",
    "json": b'{"format":"relayout certificate 1","decomposed":false,"terms":[],"steps":[],"readings":[[],[]]}',
    "a certificate of itself": json.dumps(
        {
            "format": "relayout certificate 1",
            "decomposed": False,
            "terms": [{"kind": "each", "label": 1, "shape": "f32[4]", "operands": [0]}],
            "steps": [],
            "readings": [[], []],
        }
    ).encode(),
    "a certificate of numbers": b'{"format":"relayout certificate 1","decomposed":1e999,"terms":'
    + b"9" * 5000
    + b',"steps":{},"readings":null}',
    "rows": b'{"name": "x", "status": "done"}\n' * 1000,
    "parquet": b"PAR1" + bytes(100) + b"\xff\xff\xff\x7fPAR1",
    "rules": b"f32[*,*] {1,0:T(99999999999,1)}\n" * 1000,
    "hexadecimal": b"0x" + b"f" * 100_000,
}


def _options() -> Iterator[Case]:
    commands: dict[str, Command] = {
        "pipelines": ("opt", _GOOD, "--pipelines", "{F}", "-p", "p"),
        "pairs": ("check", "--pairs", "{F}", "--engines", "proof"),
        "inputs": ("run", _GOOD, "--inputs", "{F}", "--engine", "reference"),
        "expect": ("run", _GOOD, "--expect", "{F}", "--engine", "reference"),
        "custom call": ("run", _GOOD, "--custom-call", "x={F}", "--engine", "reference"),
        "constants": ("run", _GOOD, "--constants", "like={F}", "--engine", "reference"),
        "callback": ("run", _GOOD, "--callback", "x=os:{F}", "--engine", "reference"),
        "certificate": ("check", "--replay", _GOOD, _GOOD, "{F}"),
        "results": ("opt", _GOOD, "-o", "{D}/o/", "--results", "{D}/input.jsonl", "--resume"),
        "parquet": ("opt", _GOOD, "-o", "{D}/o/", "--results", "{D}/input.parquet", "--resume"),
        "rules": ("opt", _GOOD, "-p", "annotate-layouts{rules={F}}"),
        "against": ("report", _GOOD, "--target", "tpu-v5e", "--against", "{F}"),
        "reduce": ("reduce", "{F}", _GOOD, "-o", "{D}/r", "--trials", "3"),
    }
    for option, command in commands.items():
        for what, data in _GARBAGE.items():

            def make(path: Path, data: bytes = data) -> None:
                for suffix in ("", ".jsonl", ".parquet"):
                    (path.parent / (path.name + suffix)).write_bytes(data)

            yield Case(f"option: {option} {what}", commands=(command,), make=make)


def _formulas() -> Iterator[Case]:
    """Yields modules whose names are formulas, markup or templates, in tables and pages."""
    marks = (
        "=1+1",
        "+cmd|x!A0",
        "-2+3",
        "@SUM(1)",
        "\t=1",
        "</script><script>alert(1)</script>",
        "{{data}}",
        "{{style}}",
        "&lt;",
        "'><img src=x>",
    )
    for mark in marks:
        hlo = (
            _TEXT.rstrip().rstrip(b"}").rstrip()
            + b', metadata={op_name="'
            + mark.encode()
            + b'" source_file="'
            + mark.encode()
            + b'"}\n}\n'
        )
        mlir = f'module @"{mark}" {{\n  func.func public @main(%a: tensor<4xf32>) -> tensor<4xf32> {{\n    return %a : tensor<4xf32>\n  }}\n}}\n'.encode()
        for kind, text in (("hlo", hlo), ("mlir", mlir)):
            for end in ("x.html", "x.json", "x.parquet", "x.dot"):
                yield Case(
                    f"formula: {mark} {kind} {end}",
                    text,
                    (("report", "{F}", "--target", "tpu-v5e", "-o", f"{{D}}/{end}"),),
                )
            for end in ("rows.jsonl", "rows.parquet"):
                yield Case(
                    f"formula: {mark} {kind} {end}",
                    text,
                    (("opt", "{F}", "-o", "{D}/o/", "--results", f"{{D}}/{end}"),),
                )
