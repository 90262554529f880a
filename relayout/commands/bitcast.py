"""`relayout explain --bitcast`: compares two shapes of the same bytes element by element."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from dialect_utils.io.files import STANDARD_INPUT
from dialect_utils.layout.index.index_map import byte_size
from dialect_utils.layout.moves import bitcast
from dialect_utils.layout.targets.xla_compat import xla_answers
from passes.framework.spec import Text
from relayout.batch.unit import Unit
from relayout.command import Command
from relayout.console import Console, print_json
from relayout.options import argument, flag, usage_error
from relayout.shapes import named_arguments, print_each, read_typed_array

_ARROW = "->"


@dataclass(frozen=True, kw_only=True)
class Bitcast(Command):
    """The same bytes read under another shape."""

    examples = (
        "relayout explain --bitcast 'f32[3,5]{1,0:T(2,2)}' 'f32[2,3,2,2]{3,2,1,0}'",
        "relayout explain --bitcast 'f32[2,3]{1,0}' 'f32[3,2]{0,1}' --json",
    )

    source: str = argument("SRC", "the shape the bytes have, or SRC -> DST; - reads such lines")
    destination: str | None = argument("DST", "the shape they are read as", "?")
    xla: bool = flag("print what XLA's own functions say, too (--json always does)")

    def work(self, unit: Unit, console: Console) -> int:
        pair = self.source
        if self.destination is not None and pair == STANDARD_INPUT:
            raise usage_error(f"- reads SRC {_ARROW} DST lines, so no shape follows it")
        if self.destination is not None:
            pair = f"{self.source} {_ARROW} {self.destination}"
        elif _ARROW not in pair and pair != STANDARD_INPUT:
            raise usage_error("expected two shapes", "relayout explain --bitcast 'f32[3,5]' 'f32[15]'")
        return print_each(named_arguments([pair]), partial(self._print_one, console), console, json=self.json)

    def _print_one(self, console: Console, line: Text) -> None:
        arrow = str(line).find(_ARROW)
        if arrow < 0:
            raise line.error(f"expected SRC {_ARROW} DST")
        pieces = line.part(0, arrow), line.part(arrow + len(_ARROW), len(str(line)))
        shapes = (read_typed_array(piece, console) for piece in pieces)
        found = bitcast.classify_bitcast(*shapes)
        if self.json:
            print_json(_as_json(found))
        else:
            print(f"{found.verdict}: {_explanation(found)}")
            if self.xla:
                for function, answer in xla_answers(found.source, found.destination).items():
                    print(f"  XLA's {function}: {answer}")


def _explanation(found: bitcast.Bitcast) -> str:
    if found.verdict == "size-mismatch":
        return f"{byte_size(found.source)} bytes read as {byte_size(found.destination)}"
    steps = "" if found.decomposition is None else str(found.decomposition)
    example = "" if found.counterexample is None else str(found.counterexample)
    return "; ".join(part for part in (example, steps) if part)


def _as_json(found: bitcast.Bitcast) -> dict[str, object]:
    example = found.counterexample
    return {
        "source": str(found.source),
        "destination": str(found.destination),
        "verdict": found.verdict,
        "decomposition": None if found.decomposition is None else list(map(str, found.decomposition.steps)),
        "counterexample": None
        if example is None
        else {"from": example.source_index, "to": example.destination_index, "expected": example.expected_index},
        "xla": xla_answers(found.source, found.destination),
    }
