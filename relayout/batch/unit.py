"""Units of a batch: plain values that go from process to process, and the frames that hold them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dialect_utils.io.inputs import Input
from dialect_utils.text import DiagnosticError
from relayout.process import LEAST_SECONDS
from relayout.supervisor.frames import MalformedFrameError, from_json, to_json

# The most modules that are named one by one.
_NAMED = 2


@dataclass(frozen=True, slots=True)
class Unit:
    """One part of a batch: a module, or two to compare, and its output file (None: standard output).

    `seconds` is its time limit; `known` is the SHA-256 of the content for which a result exists, and `recorded` what
    the command printed for it. `label` is what the command itself calls the unit.
    """

    inputs: tuple[Input, ...] = ()
    target: str | None = None
    seconds: float = LEAST_SECONDS
    known: str = ""
    recorded: bytes = b""
    label: str = ""

    @property
    def name(self) -> str:
        """Returns its name in results: of more than two modules the one that the command gives them."""
        return " and ".join(each.name for each in self.inputs) if len(self.inputs) <= _NAMED else self.label

    def with_contents(self) -> Unit:
        """Returns the unit with the bytes of its inputs; the work reports an input that cannot be read."""
        return replace(self, inputs=tuple(map(_with_content, self.inputs)))

    def content(self) -> str:
        """Returns the SHA-256 of the bytes of each input, or an empty string if an input was not read."""
        # Imported here because it is slow to load, and most batches keep no results.
        from hashlib import sha256

        contents = [each.content for each in self.inputs if each.content is not None]
        if len(contents) < len(self.inputs):
            return ""
        return " ".join(sha256(content).hexdigest() for content in contents)


def _with_content(read: Input) -> Input:
    try:
        return replace(read, content=read.data())
    except DiagnosticError:
        return read


# The work of a command on one unit: it prints results and diagnostics, and returns the exit code.
Work = Callable[[Unit], int]


def format_plan(units: Sequence[Unit]) -> bytes:
    """Returns the bytes of a PLAN frame."""
    return to_json({"units": list(map(_described, units))})


def parse_plan(data: bytes | bytearray) -> list[Unit]:
    """Returns the units of a PLAN frame; raises MalformedFrameError for other values than `format_plan` writes."""
    try:
        return [_unit(each) for each in from_json(data)["units"]]
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise MalformedFrameError(f"a plan with {error!r}") from None


def format_unit(unit: Unit) -> bytes:
    """Returns the bytes of a UNIT frame: a line of JSON, and the bytes of the inputs that were read already."""
    contents = [each.content for each in unit.inputs]
    sizes = [None if content is None else len(content) for content in contents]
    header = {**_described(unit), "known": unit.known, "sizes": sizes}
    return b"\n".join([to_json(header), b"".join(filter(None, contents))])


def parse_unit(data: bytes) -> Unit:
    """Returns the unit of a UNIT frame."""
    line, _, contents = data.partition(b"\n")
    header = from_json(line)
    unit, inputs = _unit(header), []
    for read, size in zip(unit.inputs, header["sizes"], strict=True):
        inputs.append(read if size is None else replace(read, content=contents[:size]))
        contents = contents[size or 0 :]
    return replace(unit, inputs=tuple(inputs), known=header["known"])


def _described(unit: Unit) -> dict[str, Any]:
    return {
        "inputs": [
            [each.path, each.inner, each.prefix, each.kind, each.proto, each.within, each.wanted]
            for each in unit.inputs
        ],
        "target": unit.target,
        "seconds": unit.seconds,
        "label": unit.label,
    }


def _unit(described: dict[str, Any]) -> Unit:
    inputs = tuple(map(_input, described["inputs"]))
    seconds = float(described["seconds"])
    if not 0 < seconds < math.inf:
        raise ValueError(f"a time limit of {seconds} seconds")
    return Unit(inputs, _optional_text(described["target"]), seconds, label=str(described["label"]))


def _input(described: list[Any]) -> Input:
    path, inner, prefix, kind, proto, within, wanted = described
    known: Any = _optional_text(kind)
    return Input(
        str(path), str(inner), str(prefix), known, _optional_text(proto), str(within), wanted=tuple(map(str, wanted))
    )


def _optional_text(value: Any) -> str | None:
    return None if value is None else str(value)
