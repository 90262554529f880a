"""Extracts modules from logs, and recognizes files of other programs.

Logs: torch_xla writes a graph between `## BEGIN_GRAPH` and `## END_GRAPH`
(torch_xla/csrc/xla_graph_executor.cpp); XLA's logs begin every line of a module with a time and a
source line (XLA_VLOG_LINES).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from dialect_utils.io.dump_names import DumpName
from dialect_utils.text import DiagnosticError

MODULE_LINE = re.compile(r"^(.*?\] )?HloModule ([\w.\-]+):?(?=[,\s])", re.ASCII | re.MULTILINE)
# The most lines that a message about a log of several modules lists.
_LISTED = 5
_LINE = re.compile(r"[^\n]+\n?|\n")
# Lines of a module outside its computations: blank lines, headers, and tables of file names and stack frames.
_BETWEEN = re.compile(r"\s*$|(?:ENTRY )?%?[\w.\-]+ .*\{$|\}|(?:File|Function|Stack)[A-Z]\w+$|\d+ [\"{]", re.ASCII)


@dataclass(frozen=True, slots=True)
class Extract:
    """A module's text in a log, and the number of the log's line at which it begins."""

    text: str
    first_line: int


def find_in_log(text: str, name: str, wanted: Sequence[str] = ()) -> Extract | None:
    """Returns the HLO module that a log prints, or None for a text without one.

    `wanted` names a module as in a dump directory: `jit_f`, `module_0001` for the second module of the log, or a
    pattern. Raises DiagnosticError where several modules of the log have the name, or none has it.
    """
    every = ((DumpName(each[2], number), each) for number, each in enumerate(MODULE_LINE.finditer(text)))
    found = ((dump, each) for dump, each in every if not wanted or any(map(dump.is_module, wanted)))
    starts = list(islice(found, _LISTED))
    if not starts:
        if wanted and MODULE_LINE.search(text):
            raise _unchosen(f"{name}: prints no module that is called {', '.join(wanted)}", text)
        return None
    if len(starts) > 1:
        others = sum(1 for _ in found)
        lines = ", ".join(str(_line_of(text, each)) for _, each in starts) + (", ..." if others else "")
        called = f" that are called {', '.join(wanted)}" if wanted else ""
        raise _unchosen(f"{name}: prints {len(starts) + others} modules{called}, at lines {lines}", text)
    start = starts[0][1]
    return Extract(_module_text(text, start.start(), start[1] or ""), _line_of(text, start))


def _unchosen(message: str, text: str) -> DiagnosticError:
    """Returns the error that a log prints several modules, with the names of the first few."""
    found = list(islice(MODULE_LINE.finditer(text), _LISTED + 1))
    names = [f"{DumpName(each[2], number).label}.{each[2]}" for number, each in enumerate(found[:_LISTED])]
    listed = ", ".join(names) + (", ..." if len(found) > _LISTED else "")
    return DiagnosticError(message, hint=f"--module NAME chooses one of {listed}")


def _line_of(text: str, found: re.Match[str]) -> int:
    return text.count("\n", 0, found.start()) + 1


def _module_text(text: str, start: int, prefix: str) -> str:
    """Returns the module at an offset of a text, without the log's prefix of each line."""
    # The time in the prefix differs from line to line.
    pattern = re.compile(r"[^\]\n]*\] ?" if prefix else "")
    # Without a prefix the module is a part of the text; a list of all lines would take 60 bytes a line.
    kept: list[str] = []
    position = end = start
    whole = 0
    is_inside = False
    for match in _LINE.finditer(text, start):
        found = pattern.match(match[0])
        if found is None:
            break
        line = match[0][found.end() :]
        if position > start and not is_inside and not _BETWEEN.match(line.rstrip()):
            break
        if prefix:
            kept.append(line)
        stripped = line.rstrip()
        if stripped.startswith("}"):
            is_inside = False
            end, whole = match.end(), len(kept)
        elif position > start and stripped.endswith("{"):
            is_inside = True
        position = match.end()
    # A log may end within a computation: the parser reports the position.
    if prefix:
        return "".join(kept if is_inside else kept[:whole])
    return text[start : position if is_inside else end]


_LOOKED_AT = 1 << 14

_LOWER = "jax.jit(f).lower(...).as_text() prints the StableHLO of a function"
_DUMP = "XLA_FLAGS=--xla_dump_to=DIR writes the HLO of what is compiled"
_DUMP_TEXT = "XLA_FLAGS='--xla_dump_to=DIR --xla_dump_hlo_as_text' writes it as text"
_TORCH = "torch_xla.stablehlo.exported_program_to_stablehlo(...).get_stablehlo_text() returns StableHLO"
_TENSORFLOW = "tf.function(f, jit_compile=True).experimental_get_compiler_ir(*args)(stage='hlo') returns HLO"
_UTF_8 = "convert it to UTF-8"


@dataclass(frozen=True, slots=True)
class Format:
    """A format that holds no module: the pattern of the begin of its files, its name, and a hint."""

    begin: bytes
    name: str
    hint: str


_FORMATS = (
    Format(rb".{257}ustar", "a tar archive", "tar xf FILE unpacks it"),
    Format(rb"PK\x03\x04", "a ZIP archive (.npz, .pt2, .keras)", "arrays go to --inputs; a module is text or a proto"),
    Format(rb"\x93NUMPY", "an array of numpy's", "arrays go to --inputs, as an .npz of in0, in1, ..."),
    Format(rb"\x80[\x02-\x05]", "a pickle of Python's", _LOWER),
    Format(rb"\x08\x01\x12", "a SavedModel of TensorFlow's", _TENSORFLOW),
    Format(rb"\x7fELF|BC\xc0\xde", "compiled code", _DUMP),
    Format(rb"\xff\xfe|\xfe\xff|(?:[^\0]\0){8}|(?:\0[^\0]){8}", "UTF-16", _UTF_8),
    Format(rb'\{.*"nbformat"|\{\s*"cells"', "a notebook", _LOWER),
    Format(rb'\{\s*["}]|\[\s*[\[\]{"\d-]', "JSON", _LOWER),
    Format(rb"\{\s*lambda\b", "a jaxpr", _LOWER),
    Format(rb"ExportedProgram:|class GraphModule\b|graph\(\):", "a program of PyTorch's", _TORCH),
    Format(
        rb"(?:#[^\n]*\n\s*)*(?:import \w|from [\w.]+ import\b|(?:async )?def \w+\(|@[\w.]+[(\n]|class \w+[(:]|\"\"\")",
        "Python",
        _LOWER,
    ),
    Format(rb"; ModuleID|source_filename = |define [^\n]*@|target (?:datalayout|triple)", "LLVM's IR", _DUMP),
    Format(rb"(?://[^\n]*\n\s*)*\.version \d", "PTX", _DUMP),
    Format(rb"(?:strict )?digraph\b", "a drawing for Graphviz", _DUMP_TEXT),
    Format(rb"gpu_device_info\s*[{:]", "the description of a GPU", "--target FILE.txtpb compiles a program for it"),
    Format(rb'(?:name|entry_computation_name): "', "a protocol buffer as text", _DUMP_TEXT),
    Format(rb"BufferAssignment:", "XLA's buffer assignment", "the module is the file without it in its name"),
    Format(rb"<(?:!DOCTYPE|html|\?xml|svg)", "a web page or XML", "download the file itself"),
)


def other_format(data: bytes) -> Format | None:
    """Returns the format of a file of another program that users often pass as a module, or None."""
    start = data[:_LOOKED_AT].removeprefix(b"\xef\xbb\xbf").lstrip(b" \t\r\n")
    return next((each for each in _FORMATS if re.match(each.begin, start, re.DOTALL)), None)
