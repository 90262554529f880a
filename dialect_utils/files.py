"""Reads modules of either form from bytes, finding the form by content, and writes them back."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Literal, cast

from dialect_utils.ir import Module
from dialect_utils.text import Diagnostic, DiagnosticError

if TYPE_CHECKING:
    from dialect_utils.stablehlo.module import StableHloModule

Kind = Literal["hlo text", "mlir text", "mlir bytecode", "hlo proto"]
Emit = Literal["text", "bytecode", "pb"]

TEXT_KINDS = ("hlo text", "mlir text")
STANDARD_INPUT = "-"

# MLIR's bytecode, which portable artifacts are too (mlir/lib/Bytecode/Encoding.h).
_BYTECODE_MAGIC = b"ML\xefR"
# HloModuleProto and HloProto both begin with field 1 of wire type 2 (xla/service/hlo.proto).
_FIRST_PROTO_FIELD = b"\x0a"
# No text has these; the tags and lengths of a protocol buffer soon do.
_BINARY = re.compile(rb"[\x00-\x08\x0e-\x1f]")
_BINARY_PREFIX = 4096
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
# Editors on Windows put it in front of UTF-8; neither form's grammar knows it.
_BYTE_ORDER_MARK = "\ufeff"

_BLANKS_AND_COMMENTS = re.compile(r"(?:\s|//[^\n]*|/\*.*?\*/|\ufeff)*", re.DOTALL)
_HLO_START = re.compile(r"HloModule\b|ENTRY\b|(?:ROOT\s+)?%?[\w.-]+\s*=\s*\(*\w+\[|%?[\w.-]+\s*\([^()]*:\s*\(*\w+\[")
_MLIR_START = re.compile(
    r'module\b|"?builtin\.module|"?func\.func|[#!][\w.-]+\s*=|\{-#|"?(?:stablehlo|mhlo|chlo|vhlo)\.'
)
_MLIR_INSIDE = re.compile(r"\b(?:stablehlo|mhlo|chlo|vhlo|func|arith|tensor)\.\w|->\s*\(?tensor<")


def read_module(path: str) -> Module:
    """Reads a module from a file, or from standard input for `-`.

    The form is found by content: HLO text, StableHLO text, MLIR bytecode or a portable artifact,
    a serialized HloModuleProto or HloProto. Raises DiagnosticError for what cannot be read or
    parsed.
    """
    return parse_bytes(read_bytes(path), display_name(path))


def read_bytes(path: str) -> bytes:
    """Reads a file, or standard input for `-`; raises DiagnosticError where that fails."""
    try:
        if path == STANDARD_INPUT:
            return sys.stdin.buffer.read()
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise DiagnosticError(Diagnostic(f"{path}: {(error.strerror or str(error)).lower()}")) from None


def display_name(path: str) -> str:
    """Returns the name under which diagnostics mention a file."""
    return "<stdin>" if path == STANDARD_INPUT else path


def parse_bytes(data: bytes, name: str) -> Module:
    """Parses a module in any form; `name` is the file's name in diagnostics."""
    kind = find_kind(data, name)
    if kind == "hlo text":
        return _parse_hlo(_text(data), name)
    if kind == "hlo proto":
        return _parse_hlo(_proto_to_text(data, name), name)
    # Imported here, as each form is: text-only work on HLO must not pay for MLIR.
    from dialect_utils import stablehlo

    # Its builders take values of its own kind only, which is what callers have.
    return cast(Module, stablehlo.parse_module(data if kind == "mlir bytecode" else _text(data), name))


def find_kind(data: bytes, name: str) -> Kind:
    """Returns what the bytes hold; raises DiagnosticError where they are no module in any form."""
    if data.startswith(_BYTECODE_MAGIC):
        return "mlir bytecode"
    binary = _BINARY.search(data, 0, _BINARY_PREFIX)
    if binary is not None:
        if data.startswith(_FIRST_PROTO_FIELD):
            return "hlo proto"
        message = f"{name}: neither text, MLIR bytecode, nor a serialized HloModuleProto"
        hint = f"byte {binary.start()} is {binary[0][0]:#04x}, which no text holds"
        hint = "it seems to be UTF-16; convert it to UTF-8" if data.startswith(_UTF_16) else hint
        raise DiagnosticError(Diagnostic(message, hint=hint))
    text = decode(data)
    start = _BLANKS_AND_COMMENTS.match(text)
    assert start is not None  # it matches the empty string
    if start.end() == len(text):
        raise DiagnosticError(Diagnostic(f"{name}: holds no module"))
    return "mlir text" if _is_mlir(text, start.end()) else "hlo text"


def _is_mlir(text: str, start: int) -> bool:
    if _HLO_START.match(text, start):
        return False
    if _MLIR_START.match(text, start):
        return True
    # A fragment of either form may begin with a name.
    return _MLIR_INSIDE.search(text, start) is not None


def _text(data: bytes) -> str:
    return decode(data).removeprefix(_BYTE_ORDER_MARK)


def decode(data: bytes) -> str:
    """Decodes UTF-8; bytes that are none survive until `encode`."""
    return data.decode("utf-8", "surrogateescape")


def encode(text: str) -> bytes:
    """Encodes what `decode` gave, byte for byte."""
    return text.encode("utf-8", "surrogateescape")


def _parse_hlo(text: str, name: str) -> Module:
    from dialect_utils import hlo

    return hlo.parse_module(text, name)


def _proto_to_text(data: bytes, name: str) -> str:
    from dialect_utils import execution

    return execution.hlo_proto_to_text(data, name)


def serialize(module: Module, emit: Emit = "text") -> bytes:
    """Writes a module as text, MLIR bytecode (StableHLO) or a serialized HloModuleProto (HLO).

    Raises DiagnosticError for bytecode of HLO and a proto of StableHLO.
    """
    if emit == "text":
        return encode(module.text())
    if emit == "bytecode" and module.form == "stablehlo":
        return cast("StableHloModule", module).bytecode()
    if emit == "pb" and module.form == "hlo":
        from dialect_utils import execution

        return execution.hlo_text_to_proto(module.text())
    wanted = {"bytecode": "stablehlo", "pb": "hlo"}[emit]
    raise DiagnosticError(Diagnostic(f"--emit {emit} needs a {wanted} module, but {module.name} is {module.form}"))
