"""Reads and writes the texts of attributes: integers, strings, computations' names, data-movement steps.

Source: xla/hlo/parser/hlo_parser.cc. Attributes of type kHloComputation and kBracedHloComputationList name
computations.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Protocol

from dialect_utils.hlo.text.grammar import PLAIN_METADATA, without_strings
from dialect_utils.hlo.text.tokens import Scanner
from dialect_utils.layout import ArrayShape, BitcastConvert, Pad, Reshape, Shape, Slice, Step, Transpose
from dialect_utils.ops import CALLING_ATTRIBUTES
from dialect_utils.ops.devices import numbers_in
from dialect_utils.ops.inference import Written, integer
from dialect_utils.ops.movement import pad_step, slice_step, transpose_step
from dialect_utils.text import Source, without_comments

# As many digits as an int64 has.
_INTS = re.compile(r"\s*(?:\{\s*(?:-?\d{1,19}\s*(?:,\s*-?\d{1,19}\s*)*)?\}|-?\d{1,19})\s*", re.ASCII)
_INT = re.compile(r"-?\d+", re.ASCII)
_OP_NAME = re.compile(r'\bop_name="((?:[^"\\]++|\\.)*+)"')
_PATH = r"\{((?>(?:(?<!\d)\d{1,9}(?!\d)|[,\s])*))\}"
_ALIAS = re.compile(rf"{_PATH}\s*:\s*\(\s*(\d{{1,9}})\s*,\s*{_PATH}", re.ASCII)
_DONOR = re.compile(r"\(\s*(\d+)\s*,\s*\{([\d,\s]*)\}", re.ASCII)
# `"output_reverse_dimensions":["0"]` in the TPU compiler's backend_config.
_REVERSED = re.compile(r'"output_reverse_dimensions"\s*:\s*\[([^\]]*)\]')
_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]+|[0-7]{1,3}|.)", re.DOTALL)
_SIMPLE_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}

# XLA prints these last, in this order (HloInstruction::PrintExtraAttributes and Print).
_LAST = ("sharding", "frontend_attributes", "control-predecessors", "metadata", "backend_config")

_NAME = re.compile(r"%?([A-Za-z_][\w.\-]*)", re.ASCII)
_CALL = re.compile(rf",\s*+({'|'.join(sorted(CALLING_ATTRIBUTES))})=\s*+(\{{[^{{}}]*+\}}|%?[\w.\-]++)", re.ASCII)


def with_attribute(attributes: Mapping[str, str], name: str, text: str) -> dict[str, str]:
    """Returns attributes with one changed, or added where XLA prints it."""
    if name in attributes or name == _LAST[-1]:
        return {**attributes, name: text}
    later = _LAST[_LAST.index(name) + 1 :] if name in _LAST else _LAST
    earlier = {key: value for key, value in attributes.items() if key not in later}
    return {**earlier, name: text, **attributes}


def parse_ints(text: str) -> tuple[int, ...] | None:
    """Returns the integers of `{1,0}` or of a lone `1`, or None for any other text."""
    text = without_comments(text)
    if not _INTS.fullmatch(text):
        return None
    return tuple(map(int, _INT.findall(text)))


def parse_aliases(text: str) -> tuple[tuple[tuple[int, ...], int, tuple[int, ...]], ...]:
    """Returns (result index path, parameter number, parameter index path) of an input_output_alias text."""
    return tuple(
        (tuple(numbers_in(match[1])), int(match[2]), tuple(numbers_in(match[3])))
        for match in _ALIAS.finditer(without_comments(text))
    )


def parse_donors(text: str) -> tuple[tuple[int, tuple[int, ...]], ...]:
    """Returns (parameter number, parameter index path) of a buffer_donor text."""
    return tuple((integer(match[1]), tuple(numbers_in(match[2]))) for match in _DONOR.finditer(without_comments(text)))


def parse_frontend_attributes(text: str) -> dict[str, str]:
    """Returns the values of `{a="x",b={...}}` by name; strings are unescaped, braces kept."""
    scanner = Scanner(Source("<frontend_attributes>", text))
    scanner.expect("{", "before frontend attributes")
    values: dict[str, str] = {}
    while not scanner.take("}"):
        if values:
            scanner.expect(",", "between frontend attributes")
        name = scanner.next().text
        scanner.expect("=", f"after the frontend attribute {name}")
        if scanner.at("{"):
            start = scanner.token.start
            scanner.group()
            values[name] = text[start : scanner.last_end]
        else:
            values[name] = unescape(scanner.next().text[1:-1])
    return values


def format_frontend_attributes(values: Mapping[str, str]) -> str:
    """Returns `{a="x",b={...}}`, the inverse of `parse_frontend_attributes`."""
    return "{" + ",".join(f"{name}={_frontend_value(value)}" for name, value in values.items()) + "}"


def _frontend_value(value: str) -> str:
    # XLA prints a value in braces without quotes, and reads it back.
    return value if value.startswith("{") and value.endswith("}") else f'"{escape(value)}"'


def escape(text: str) -> str:
    """Returns a string as it is between quotes (absl::CEscape for the characters of HLO text)."""
    for char, name in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\r", "\\r"), ("\t", "\\t")):
        text = text.replace(char, name)
    return text


def unescape(text: str) -> str:
    """Returns the string between quotes (absl::CUnescape)."""
    return _ESCAPE.sub(_unescaped, text) if "\\" in text else text


def string_bytes(text: str) -> bytes:
    """Returns the bytes that a text in quotes means."""
    return unescape(text[1:-1].encode().decode("latin-1")).encode("latin-1")


def _unescaped(match: re.Match[str]) -> str:
    body = match[1]
    if body[0] == "x" and len(body) > 1:
        return chr(int(body[1:], 16) & 0xFF)
    if body[0] in "01234567":
        return chr(int(body, 8) & 0xFF)
    return _SIMPLE_ESCAPES.get(body, body)


def op_name_in(metadata: str | None) -> str:
    """Returns the name that the framework gave an operation, of an attribute `metadata`; empty where there is none."""
    match = _OP_NAME.search(metadata or "")
    return match[1] if match else ""


def reversed_dimensions(config: str | None) -> tuple[int, ...]:
    """Returns the dimensions along which an operation with this backend_config writes its result in reverse.

    The TPU compiler replaces `reverse(add(x, y))` by an `add` with `output_reverse_dimensions` (the pass
    jellyfish-reverse-decomposer of libtpu); the dimensions are those of the logical array.
    """
    found = _REVERSED.search(config) if config else None
    return tuple(map(int, _INT.findall(found[1]))) if found is not None else ()


def is_calling(attribute: str) -> bool:
    """Is true for an attribute that names computations."""
    return attribute in CALLING_ATTRIBUTES


# All ops that a pass makes in place of an instruction ask for the metadata of that instruction.
@lru_cache(maxsize=64)
def metadata_in(tail: str) -> str | None:
    """Returns the value of `metadata` of an unsplit attribute text, or None where only splitting finds it.

    The value is found in a text with one `metadata=`, before which no string begins and all braces are closed.
    """
    found = PLAIN_METADATA.search(tail)
    if found is None or tail.count("metadata=") > 1:
        return None
    start = found.start()
    if tail.find('"', 0, start) >= 0 or tail.find("/", 0, start) >= 0:
        return None
    return found[1] if tail.count("{", 0, start) == tail.count("}", 0, start) else None


def called_in(tail: str) -> list[tuple[str, str]]:
    """Returns (attribute, computation name) for every computation that an attribute text names, in order."""
    found = list(_CALL.finditer(tail))
    if not found:
        return []
    quote, slash = tail.find('"'), tail.find("/")
    if -1 < quote < found[-1].start() or -1 < slash < found[-1].end():
        # Strings and comments call nothing.
        tail = without_comments(without_strings(tail) or "")
        found = list(_CALL.finditer(tail))
    return [
        (match[1], name)
        for match in found
        # Inside braces a name means something else.
        if tail.count("{", 0, match.start()) == tail.count("}", 0, match.start())
        for name in names_in(match[2])
    ]


def names_in(text: str) -> list[str]:
    """Returns the names in `%a` or `{%a, %b}`, without `%`."""
    return _NAME.findall(text)


def renamed(text: str, old: str, new: str) -> str:
    """Returns an attribute text with one name replaced by another."""
    return _NAME.sub(lambda match: match[0].replace(old, new) if match[1] == old else match[0], text)


class Movement(Written, Protocol):
    """An instruction that a step is read from."""

    shape: Shape


def parse_step(instruction: Movement) -> Step | None:
    """Returns the data-movement step of an instruction, or None for any other or dynamic sizes."""
    parse = _PARSERS.get(instruction.opcode)
    shape = instruction.shape
    if parse is None or not isinstance(shape, ArrayShape) or shape.dynamic:
        return None
    return parse(instruction, shape)


_PARSERS: dict[str, Callable[[Movement, ArrayShape], Step | None]] = {
    Transpose.opcode: lambda instruction, _: transpose_step(instruction),
    Reshape.opcode: lambda _, shape: Reshape(shape.dimensions),
    Pad.opcode: lambda instruction, _: pad_step(instruction),
    Slice.opcode: lambda instruction, _: slice_step(instruction),
    BitcastConvert.opcode: lambda _, shape: BitcastConvert(shape.element_type),
}


@lru_cache(maxsize=1 << 12)
def format_step(step: Step) -> Mapping[str, str]:
    """Returns the attributes of a step's instruction; most steps need only its shape."""
    return MappingProxyType(_format_step(step))


def _format_step(step: Step) -> dict[str, str]:
    match step:
        case Transpose():
            return {"dimensions": "{" + ",".join(map(str, step.permutation)) + "}"}
        case Slice():
            spans = zip(step.start, step.limit, step.strides, strict=True)
            parts = [f"[{start}:{limit}" + (f":{by}]" if by != 1 else "]") for start, limit, by in spans]
            return {"slice": "{" + ", ".join(parts) + "}"}
        case Pad():
            spans = zip(step.low, step.high, step.gaps, strict=True)
            return {"padding": "x".join(f"{a}_{b}" + (f"_{c}" if c else "") for a, b, c in spans)}
    return {}
