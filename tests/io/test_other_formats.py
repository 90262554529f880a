"""Errors about files of other programs name their format."""

from __future__ import annotations

import io
import json
import pickle
from pathlib import Path

import numpy as np
import pytest

from dialect_utils.io.containers import other_format
from dialect_utils.io.files import parse_bytes
from dialect_utils.text import DiagnosticError
from passes.framework.pipeline import verify
from tests.paths import ROOT

HLO = "HloModule m\n\nENTRY e {\n  ROOT p = f32[3] parameter(0)\n}\n"


def saved() -> bytes:
    file = io.BytesIO()
    np.savez(file, in0=np.zeros(3))
    return file.getvalue()


FILES = {
    "a ZIP archive": saved(),
    "a pickle": pickle.dumps({"a": 1}),
    "a SavedModel": b"\x08\x01\x12\xa0\x01\x0a\x05serve",
    "compiled code": b"\x7fELF\x02\x01\x01\0",
    "UTF-16": HLO.encode("utf-16"),
    "UTF-16 ": HLO.encode("utf-16-le"),
    "UTF-16  ": HLO.encode("utf-16-be"),
    "a notebook": json.dumps({"cells": [], "nbformat": 4}).encode(),
    "JSON": b'\xef\xbb\xbf{\n  "name": "m"\n}',
    "JSON ": b"[1, 2, 3]",
    "a jaxpr": b"{ lambda ; a:f32[3]. let b:f32[3] = mul a 2.0:f32[] in (b,) }",
    "a program of PyTorch's": b"ExportedProgram:\n    class GraphModule(torch.nn.Module):\n",
    "Python": b"#!/usr/bin/env python\n# a comment\nimport jax\n",
    "Python ": b"def f(x):\n    return tensor.shape\n",
    "LLVM's IR": b"; ModuleID = 'm'\ndefine i32 @f(i32 %a) {\n",
    "PTX": b"//\n// Generated\n//\n.version 8.0\n",
    "a drawing for Graphviz": b"digraph G {\nrankdir = TB;\n",
    "a protocol buffer as text": b'name: "jit_f"\ncomputations {\n',
    "XLA's buffer assignment": b"BufferAssignment:\nallocation 0: size 60\n",
    "a web page": b"<!DOCTYPE html>\n<html>",
}


@pytest.mark.parametrize("kind", FILES)
def test_the_error_about_another_format_names_it(kind: str) -> None:
    with pytest.raises(DiagnosticError, match=f"m.x: holds no module; it seems to be {kind.strip()}.*\nhint: "):
        parse_bytes(FILES[kind], "m.x")


@pytest.mark.parametrize("file", sorted(ROOT.glob("*/*.hlo")) + sorted(ROOT.glob("*/*.mlir")), ids=lambda f: f.name)
def test_no_module_is_taken_for_another_format(file: Path) -> None:
    assert other_format(file.read_bytes()) is None


@pytest.mark.parametrize("before", ["import jax\n", '{"a": 1}\n', "BufferAssignment:\n", "<html>\n"])
def test_a_module_in_a_log_is_read_after_any_first_line(before: str) -> None:
    assert parse_bytes((before + HLO).encode(), "log").name == "m"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("func.func @main() {\n  linalg.fill ins() outs()\n  return\n}", "linalg is a dialect that is not read here"),
        (
            "func.func @main(%a: !torch.int) {\n  torch.aten.x %a : !torch.int\n  return\n}",
            "torch is a dialect that is not read here",
        ),
        ("# Title\n", "begins with HloModule NAME, StableHLO with module or func.func"),
    ],
)
def test_the_error_about_other_text_names_the_supported_kinds(text: str, said: str) -> None:
    with pytest.raises(DiagnosticError, match=said):
        verify(parse_bytes(text.encode(), "m.mlir"))
