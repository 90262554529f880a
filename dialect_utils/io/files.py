"""Reads modules of either dialect from bytes, whose content tells their format, and writes modules to files."""

from __future__ import annotations

import os
import re
import stat
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast, get_args

from dialect_utils.io.containers import MODULE_LINE, find_in_log, other_format
from dialect_utils.io.decompression import COMPRESSED, decompressed, start_of_content
from dialect_utils.io.dump_names import DumpName
from dialect_utils.io.protos import is_proto_of_module
from dialect_utils.io.remote import read_url
from dialect_utils.processes import waiting
from dialect_utils.sandbox import is_sandboxed
from dialect_utils.text import LARGEST_TEXT, DiagnosticError, read_input, read_start

if TYPE_CHECKING:
    from dialect_utils.ir import Module
    from dialect_utils.stablehlo.module import StableHloModule

Kind = Literal["hlo text", "mlir text", "mlir bytecode", "hlo proto"]
Emit = Literal["text", "bytecode", "pb"]

TEXT_KINDS = ("hlo text", "mlir text")
STANDARD_INPUT = "-"
# The begin of the name of a function among the names of modules.
FUNCTION = "@"
# `s3://bucket/key`, and chains such as `zip://member::s3://bucket/archive.zip`.
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]+(://|::)")

# MLIR bytecode and portable artifacts both begin so (mlir/lib/Bytecode/Encoding.h).
_BYTECODE_MAGIC = b"ML\xefR"
# HloModuleProto and HloProto both begin with field 1 of wire type 2 (xla/service/hlo.proto).
_FIRST_PROTO_FIELD = b"\x0a"
# Bytes that no text contains. A protocol buffer has such a byte among its first tags and lengths.
_BINARY = re.compile(rb"[\x00-\x08\x0e-\x1f]")
_BINARY_PREFIX = 4096
# Editors on Windows write it before UTF-8; neither dialect's grammar accepts it.
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
# Stricter patterns for files of a directory, which may be reports or lists of options.
_HLO_HEADER = re.compile(r"HloModule\b|ENTRY\b")
_HLO_IN_LOG = re.compile(r"^(?:## BEGIN_GRAPH$|[^\n]*\] HloModule [\w.\-]+[,\s])", re.MULTILINE)
_LOOKED_AT = 1 << 16
# Random bytes in the name of a temporary file, which has two hexadecimal digits for each.
_NAME_BYTES = 8
# A block of zstd has at most 128 KB, and nothing of it can be read before its end.
_COMPRESSED_START = 1 << 18
_MLIR_INSIDE = re.compile(r"\b(?:stablehlo|mhlo|chlo|vhlo|func|arith|tensor)\.\w|->\s*\(?tensor<")


def function_of(name: str | None) -> tuple[str, ...]:
    """Returns a function by its name as `read_module` wants it, or nothing for None."""
    return () if name is None else (FUNCTION + name.removeprefix(FUNCTION),)


def read_module(path: str, wanted: Sequence[str] = ()) -> Module:
    """Reads a module from a file, a URL, or standard input for `-`; raises DiagnosticError where that fails.

    The content tells the format: HLO text, StableHLO text, MLIR bytecode or a portable artifact, or a serialized
    HloModuleProto or HloProto. Each may be compressed with gzip, xz or zstd, and a log may print the HLO text.
    `wanted` chooses as for `parse_bytes`.
    """
    return parse_bytes(read_bytes(path), display_name(path), wanted)


def read_bytes(path: str, within: str = "") -> bytes:
    """Reads a file, a URL, or standard input for `-`, decompressed.

    `within` is the directory in which a file was found; a link that leaves it is an error.

    Raises DiagnosticError where that fails, for pipes and devices, for more than 256 MB, and for compressed files
    beyond the limits of `decompressed`.
    """
    data = (
        read_url(path)
        if is_url(path)
        else _standard_input()
        if path == STANDARD_INPUT
        else read_input(path, within=within)
    )
    return decompressed(data, display_name(path)) if data.startswith(COMPRESSED) else data


def _standard_input() -> bytes:
    try:
        with waiting(None):
            data = sys.stdin.buffer.read(LARGEST_TEXT + 1)
    except OSError as error:
        raise DiagnosticError(f"<stdin>: {(error.strerror or str(error)).lower()}") from None
    if len(data) > LARGEST_TEXT:
        raise DiagnosticError(f"<stdin>: has more than the {LARGEST_TEXT} bytes that are read")
    return data


def is_url(name: str) -> bool:
    """Is true for a URL and for a chain of URLs."""
    return _URL.match(name) is not None


def display_name(path: str) -> str:
    """Returns the name under which diagnostics mention a file."""
    return "<stdin>" if path == STANDARD_INPUT else path


def parse_bytes(data: bytes, name: str, wanted: Sequence[str] = ()) -> Module:
    """Parses a module in any format; `name` is the file's name in diagnostics.

    `wanted` chooses among the modules of a log, as `find_in_log` does; a single module must have one of these names.
    `@NAME` among them is the function of the module that becomes its entry.
    """
    functions = [each for each in wanted if each.startswith(FUNCTION)]
    if functions:
        module = parse_bytes(data, name, [each for each in wanted if each not in functions])
        return _with_entry(module, functions[0].removeprefix(FUNCTION))
    if not wanted:
        return _parse(data, name)
    text = _text(data) if find_kind(data, name) == "hlo text" else ""
    found = find_in_log(text, name, wanted)
    if found is not None:
        return _parse_hlo(found.text, name, found.first_line)
    module = _parse(data, name)
    if not any(map(DumpName(module.name).is_module, wanted)):
        raise DiagnosticError(f"{name}: holds {module.name}, and no module called {', '.join(wanted)}")
    return module


def _with_entry(module: Module, function: str) -> Module:
    if module.dialect == "hlo":
        hint = f"relayout extract FILE {function} makes a module of a computation"
        raise DiagnosticError(f"{module.name} is HLO, which has computations and no functions", hint=hint)
    return cast("StableHloModule", module).with_entry(function)


def _parse(data: bytes, name: str) -> Module:
    try:
        return _parse_whole(data, name)
    except DiagnosticError as error:
        # The description of a GPU begins like a computation.
        _reject_other_format(data, name)
        first = error.diagnostics[0]
        text, start = (first.location.source.text, first.location.span.start) if first.location else ("", 0)
        end = text.rstrip()
        # The error is in the last of several lines, where the text ends without the } of a module.
        is_last = "\n" in end and "\n" not in end[start:] and (end == text or start >= len(end))
        if not is_last or end.endswith("}"):
            raise
        raise DiagnosticError(replace(first, hint="the text ends here: the file seems to be cut off")) from error


def _parse_whole(data: bytes, name: str) -> Module:
    kind = find_kind(data, name)
    if kind == "hlo text":
        text = _text(data)
        found = None if _HLO_START.match(text, _first(text)) else find_in_log(text, name)
        return _parse_hlo(text, name) if found is None else _parse_hlo(found.text, name, found.first_line)
    if kind == "hlo proto":
        from dialect_utils import execution

        return _parse_hlo(execution.hlo_proto_to_text(data, name), name)
    return _parse_mlir(data if kind == "mlir bytecode" else encode(_text(data)), name)


def _parse_mlir(data: bytes, name: str) -> Module:
    """Parses StableHLO; in a process that must not crash on it, only after a worker has parsed it."""
    text = None if data.startswith(_BYTECODE_MAGIC) else decode(data)
    if not is_sandboxed():
        from dialect_utils import execution

        checked = execution.mlir_to_text(data, name)
        # The worker is not trusted to return a text unchanged.
        text = decode(checked) if text is None else text
    # Each dialect is imported where a file holds it: work on HLO text must not load MLIR.
    from dialect_utils import stablehlo

    return stablehlo.parse_module(data if text is None else text, name)


def _parse_hlo(text: str, name: str, first_line: int = 1) -> Module:
    from dialect_utils import hlo

    return hlo.parse_module(text, name, first_line=first_line)


def find_kind(data: bytes, name: str) -> Kind:
    """Returns the format of bytes that should be a module; raises DiagnosticError for any other content."""
    if data.startswith(_BYTECODE_MAGIC):
        return "mlir bytecode"
    binary = _BINARY.search(data, 0, _BINARY_PREFIX)
    if binary is not None:
        if data.startswith(_FIRST_PROTO_FIELD):
            return "hlo proto"
        _reject_other_format(data, name)
        message = f"{name}: neither text, MLIR bytecode, nor a serialized HloModuleProto"
        hint = f"byte {binary.start()} is {binary[0][0]:#04x}, which no text holds"
        raise DiagnosticError(message, hint=hint)
    text = decode(data)
    start = _first(text)
    if start == len(text):
        what = "is empty" if not data.strip() else "holds comments only"
        raise DiagnosticError(f"{name}: holds no module: it {what}")
    if _HLO_START.match(text, start):
        return "hlo text"
    if _MLIR_START.match(text, start):
        return "mlir text"
    is_log = MODULE_LINE.search(text) is not None
    if not is_log:
        _reject_other_format(data, name)
    # A fragment of either dialect may begin with a name.
    return "mlir text" if not is_log and _MLIR_INSIDE.search(text, start) else "hlo text"


def is_start_of_module(start: bytes) -> bool:
    """Is true for the first bytes of a file that may hold a module, not compressed; no more of it is read."""
    if _BINARY.search(start, 0, _BINARY_PREFIX):
        return start.startswith((_BYTECODE_MAGIC, _FIRST_PROTO_FIELD))
    text = _text(start)
    first = _first(text)
    return any(each.match(text, first) for each in (_HLO_START, _MLIR_START)) or _HLO_IN_LOG.search(text) is not None


def _reject_other_format(data: bytes, name: str) -> None:
    """Raises DiagnosticError for files of other programs, such as pickles or jaxprs."""
    found = other_format(data)
    if found is not None:
        raise DiagnosticError(f"{name}: holds no module; it seems to be {found.name}", hint=found.hint)


def kind_of_module(path: str, within: str = "") -> Kind | None:
    """Returns the format of a file in the directory `within`, or None for a file without a module.

    Stricter than `find_kind`: a text must begin with a module's header or be a log that prints one, and a proto must
    have the fields of an HLO module. Raises DiagnosticError for a file that cannot be read.
    """
    start = read_start(path, _LOOKED_AT, within)
    if start.startswith(COMPRESSED):
        start = start_of_content(read_start(path, _COMPRESSED_START, within), _LOOKED_AT, path)
    if start.startswith(_BYTECODE_MAGIC):
        return "mlir bytecode"
    if _BINARY.search(start, 0, _BINARY_PREFIX):
        is_module = start.startswith(_FIRST_PROTO_FIELD) and is_proto_of_module(read_bytes(path, within))
        return "hlo proto" if is_module else None
    text = decode(start)
    position = _first(text)
    if _HLO_HEADER.match(text, position) or _HLO_IN_LOG.search(text, position):
        return "hlo text"
    return "mlir text" if _MLIR_START.match(text, position) else None


def _first(text: str) -> int:
    """Returns the offset of the first word that is not in a comment."""
    found = _BLANKS_AND_COMMENTS.match(text)
    return found.end() if found is not None else 0


def _text(data: bytes) -> str:
    return decode(data).removeprefix(_BYTE_ORDER_MARK)


def decode(data: bytes) -> str:
    """Decodes UTF-8; other bytes survive until `encode`."""
    return data.decode("utf-8", "surrogateescape")


def encode(text: str) -> bytes:
    """Encodes the text of `decode`, byte for byte."""
    return text.encode("utf-8", "surrogateescape")


def write_file(path: Path, data: bytes | memoryview) -> None:
    """Replaces a file by a temporary one beside it, whole or not at all; keeps its mode and follows links.

    Pipes and devices are written directly. Raises OSError that names the file.
    """
    try:
        _write_file(Path(os.path.realpath(path)), data)
    except OSError as error:
        # The name of the temporary file would mean nothing to the user.
        raise OSError(error.errno, error.strerror, str(path)) from error


def _write_file(target: Path, data: bytes | memoryview) -> None:
    if target.exists() and not target.is_file():
        target.write_bytes(data)
        return
    # The name is not derived from the target's name, which may be as long as the system allows. It is known before the
    # file exists, so that a signal at any moment leaves no temporary file.
    temporary = target.parent / f".relayout-{os.urandom(_NAME_BYTES).hex()}"
    try:
        with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(data)
        os.chmod(temporary, _mode(target))
        os.replace(temporary, target)
    except BaseException:  # Ctrl-C too
        temporary.unlink(missing_ok=True)
        raise


def _mode(target: Path) -> int:
    """Returns the mode of a file, or of a new file where it does not exist."""
    if target.exists():
        return stat.S_IMODE(target.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def show_locations(module: Module) -> None:
    """Makes a StableHLO module print its locations, which hold the names of values; HLO text always has names."""
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
        hint = f"one of {', '.join(get_args(Emit))}"
        raise DiagnosticError(f"cannot write a module as {emit!r}", hint=hint)
    wanted, other = {"bytecode": ("StableHLO", "pb"), "pb": ("HLO", "bytecode")}[emit]
    message = f"only {wanted} is written as {emit}, but {module.name} is {module.dialect}"
    raise DiagnosticError(message, hint=f"write it as {other} or text")
