"""Reads modules of either dialect from bytes, finding the format by content, and writes them back."""

from __future__ import annotations

import os
import re
import stat
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast, get_args

from dialect_utils.io.containers import COMPRESSED, MODULE_LINE, decompressed, find_in_log, other_format
from dialect_utils.io.protos import is_proto_of_module
from dialect_utils.io.remote import read_url
from dialect_utils.text import LARGEST_TEXT, Diagnostic, DiagnosticError, read_input, read_start

if TYPE_CHECKING:
    from dialect_utils.ir import Module
    from dialect_utils.stablehlo.module import StableHloModule

Kind = Literal["hlo text", "mlir text", "mlir bytecode", "hlo proto"]
Emit = Literal["text", "bytecode", "pb"]

TEXT_KINDS = ("hlo text", "mlir text")
STANDARD_INPUT = "-"
# `s3://bucket/key`, and chains such as `zip://member::s3://bucket/archive.zip`.
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]+(://|::)")

# MLIR's bytecode, which portable artifacts are too (mlir/lib/Bytecode/Encoding.h).
_BYTECODE_MAGIC = b"ML\xefR"
# HloModuleProto and HloProto both begin with field 1 of wire type 2 (xla/service/hlo.proto).
_FIRST_PROTO_FIELD = b"\x0a"
# No text has these; the tags and lengths of a protocol buffer soon do.
_BINARY = re.compile(rb"[\x00-\x08\x0e-\x1f]")
_BINARY_PREFIX = 4096
# Editors on Windows put it before UTF-8; neither form's grammar knows it.
_BYTE_ORDER_MARK = "\ufeff"

_BLANKS_AND_COMMENTS = re.compile(r"(?:\s|//[^\n]*|/\*.*?\*/|\ufeff)*", re.DOTALL)
# A module, a computation (`name (p: f32[3])`, `name {`), an instruction (`a = f32[3]`, `a = add(`).
_HLO_START = re.compile(
    r"HloModule\b|ENTRY\b|(?:ROOT\s+)?%?[\w.-]+\s*=\s*(?:\(*\w+\[|[a-z][a-z-]*\()|%?[\w.-]+\s*\([^()]*:\s*\(*\w+\["
    r"|(?!module\b)%?[A-Za-z_][\w.-]*\s*\{"
)
_MLIR_START = re.compile(
    r'module\b|"?builtin\.module|"?func\.func|[#!][\w.-]+\s*=|\{-#|"?(?:stablehlo|mhlo|chlo|vhlo)\.'
    r"|[a-z]\w*\.[a-z]\w*\s+(?:(?:private|public)\s+)?@"  # a function or module of another dialect
)
# What no report, list of options or object file has: a module's or an entry's header, and logs that print a module.
_HLO_HEADER = re.compile(r"HloModule\b|ENTRY\b")
_HLO_IN_LOG = re.compile(r"^(?:## BEGIN_GRAPH$|[^\n]*\] HloModule [\w.\-]+[,\s])", re.MULTILINE)
_LOOKED_AT = 1 << 16
_MLIR_INSIDE = re.compile(r"\b(?:stablehlo|mhlo|chlo|vhlo|func|arith|tensor)\.\w|->\s*\(?tensor<")


def read_module(path: str) -> Module:
    """Reads a module from a file, or from standard input for `-`.

    The format is found by content: HLO text, StableHLO text, MLIR bytecode or a portable artifact,
    a serialized HloModuleProto or HloProto; any of them compressed with gzip, xz or zstd, and HLO
    text in a log. Raises DiagnosticError for what cannot be read or
    parsed.
    """
    return parse_bytes(read_bytes(path), display_name(path))


def read_bytes(path: str) -> bytes:
    """Reads a file, a URL, or standard input for `-`.

    Raises DiagnosticError where that fails, for what is no regular file, and for more than 256 MB.
    """
    data = read_url(path) if is_url(path) else _standard_input() if path == STANDARD_INPUT else read_input(path)
    return decompressed(data, display_name(path)) if data.startswith(COMPRESSED) else data


def _standard_input() -> bytes:
    try:
        data = sys.stdin.buffer.read(LARGEST_TEXT + 1)
    except OSError as error:
        raise DiagnosticError(Diagnostic(f"<stdin>: {(error.strerror or str(error)).lower()}")) from None
    if len(data) > LARGEST_TEXT:
        raise DiagnosticError(Diagnostic(f"<stdin>: has more than the {LARGEST_TEXT} bytes that are read"))
    return data


def is_url(name: str) -> bool:
    """Is true for a URL, and for a chain of them."""
    return _URL.match(name) is not None


def display_name(path: str) -> str:
    """Returns the name under which diagnostics mention a file."""
    return "<stdin>" if path == STANDARD_INPUT else path


def parse_bytes(data: bytes, name: str) -> Module:
    """Parses a module in any format; `name` is the file's name in diagnostics."""
    kind = find_kind(data, name)
    if kind == "hlo text":
        text = _text(data)
        found = None if _starts_as_module(text) else find_in_log(text, name)
        return _parse_hlo(text, name) if found is None else _parse_hlo(found.text, name, found.first_line)
    if kind == "hlo proto":
        return _parse_hlo(_proto_to_text(data, name), name)
    # Imported here, as each dialect is: text-only work on HLO must not pay for MLIR.
    from dialect_utils import stablehlo

    # Its builders take values of its own kind only, which is what callers have.
    return cast("Module", stablehlo.parse_module(data if kind == "mlir bytecode" else _text(data), name))


def find_kind(data: bytes, name: str) -> Kind:
    """Returns what the bytes hold; raises DiagnosticError where they are no module in any format."""
    if data.startswith(_BYTECODE_MAGIC):
        return "mlir bytecode"
    binary = _BINARY.search(data, 0, _BINARY_PREFIX)
    if binary is not None:
        if data.startswith(_FIRST_PROTO_FIELD):
            return "hlo proto"
        _refuse_other_format(data, name)
        message = f"{name}: neither text, MLIR bytecode, nor a serialized HloModuleProto"
        hint = f"byte {binary.start()} is {binary[0][0]:#04x}, which no text holds"
        raise DiagnosticError(Diagnostic(message, hint=hint))
    text = decode(data)
    start = _BLANKS_AND_COMMENTS.match(text)
    assert start is not None  # it matches the empty string
    if start.end() == len(text):
        raise DiagnosticError(Diagnostic(f"{name}: holds no module"))
    if _begins_as_none(text, start.end()):
        _refuse_other_format(data, name)
    return "mlir text" if _is_mlir(text, start.end()) else "hlo text"


def _refuse_other_format(data: bytes, name: str) -> None:
    """Raises DiagnosticError for bytes in a format that people take for a module's."""
    found = other_format(data)
    if found is not None:
        raise DiagnosticError(Diagnostic(f"{name}: holds no module; it seems to be {found.name}", hint=found.hint))


def kind_of_module(path: str) -> Kind | None:
    """Returns what a file of a directory holds by its content, or None where it is no module.

    Stricter than `find_kind`, which is told that there is one: a text begins with a module's header or prints one as
    a log, a proto has the fields of an HLO module. Raises DiagnosticError for what cannot be read.
    """
    start = read_start(path, _LOOKED_AT)
    if start.startswith(COMPRESSED):
        start = read_bytes(path)[:_LOOKED_AT]
    if start.startswith(_BYTECODE_MAGIC):
        return "mlir bytecode"
    if _BINARY.search(start, 0, _BINARY_PREFIX):
        is_module = start.startswith(_FIRST_PROTO_FIELD) and is_proto_of_module(read_bytes(path))
        return "hlo proto" if is_module else None
    text = decode(start)
    first = _BLANKS_AND_COMMENTS.match(text)
    position = first.end() if first is not None else 0
    if _HLO_HEADER.match(text, position) or _HLO_IN_LOG.search(text, position):
        return "hlo text"
    return "mlir text" if _MLIR_START.match(text, position) else None


def _starts_as_module(text: str) -> bool:
    start = _BLANKS_AND_COMMENTS.match(text)
    return start is not None and _HLO_START.match(text, start.end()) is not None


def _begins_as_none(text: str, start: int) -> bool:
    """Is true for a text that begins as neither dialect does, and prints no module as a log."""
    return not any(pattern.match(text, start) for pattern in (_HLO_START, _MLIR_START)) and not MODULE_LINE.search(text)


def _is_mlir(text: str, start: int) -> bool:
    if _HLO_START.match(text, start):
        return False
    if _MLIR_START.match(text, start):
        return True
    # A fragment of either dialect may begin with a name, and a log with anything.
    if MODULE_LINE.search(text, start):
        return False
    return _MLIR_INSIDE.search(text, start) is not None


def _text(data: bytes) -> str:
    return decode(data).removeprefix(_BYTE_ORDER_MARK)


def decode(data: bytes) -> str:
    """Decodes UTF-8; bytes that are none survive until `encode`."""
    return data.decode("utf-8", "surrogateescape")


def encode(text: str) -> bytes:
    """Encodes what `decode` gave, byte for byte."""
    return text.encode("utf-8", "surrogateescape")


def _parse_hlo(text: str, name: str, first_line: int = 1) -> Module:
    from dialect_utils import hlo

    return hlo.parse_module(text, name, first_line=first_line)


def _proto_to_text(data: bytes, name: str) -> str:
    from dialect_utils import execution

    return execution.hlo_proto_to_text(data, name)


def write_file(path: Path, data: bytes) -> None:
    """Replaces a file by a temporary one beside it, whole or not at all; its mode stays, a link is followed.

    What is no regular file (a pipe, a device) is written directly. Raises OSError that names the file.
    """
    try:
        _write_file(Path(os.path.realpath(path)), data)
    except OSError as error:
        # The temporary file's name says nothing to the user.
        raise OSError(error.errno, error.strerror, str(path)) from error


def _write_file(target: Path, data: bytes) -> None:
    if target.exists() and not target.is_file():
        target.write_bytes(data)
        return
    # The name has a length of its own: the target's may be as long as the system allows.
    handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=".relayout-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.chmod(temporary, _mode(target))
        os.replace(temporary, target)
    except BaseException:  # Ctrl-C too
        os.unlink(temporary)
        raise


def _mode(target: Path) -> int:
    """Returns the file's own mode, or that of a new file."""
    if target.exists():
        return stat.S_IMODE(target.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def show_locations(module: Module) -> None:
    """Lets a StableHLO module print its locations, which hold the names of values; HLO text has them anyway."""
    if module.dialect == "stablehlo":
        cast("StableHloModule", module).has_locations = True


def serialize(module: Module, emit: Emit = "text") -> bytes:
    """Writes a module as text, MLIR bytecode (StableHLO) or a serialized HloModuleProto (HLO).

    Raises DiagnosticError for bytecode of HLO, a proto of StableHLO, and an unknown form.
    """
    if emit == "text":
        return encode(module.text())
    if emit == "bytecode" and module.dialect == "stablehlo":
        return cast("StableHloModule", module).bytecode()
    if emit == "pb" and module.dialect == "hlo":
        from dialect_utils import execution

        return execution.hlo_text_to_proto(module.text())
    if emit not in get_args(Emit):
        raise DiagnosticError(
            Diagnostic(f"cannot write a module as {emit!r}", hint=f"one of {', '.join(get_args(Emit))}")
        )
    wanted, other = {"bytecode": ("StableHLO", "pb"), "pb": ("HLO", "bytecode")}[emit]
    message = f"only {wanted} is written as {emit}, but {module.name} is {module.dialect}"
    raise DiagnosticError(Diagnostic(message, hint=f"write it as {other} or text"))
