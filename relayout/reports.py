"""The reports of a directory, gathered by the process of the command: pages, the list of pages, and contracts."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from dialect_utils.io.files import encode
from dialect_utils.text import Diagnostic
from relayout.batch.unit import Unit
from relayout.command import Gatherer, Result, read_finding
from relayout.console import Console, print_json
from relayout.output import write_output
from relayout.reporting.gate import parse_condition
from relayout.reporting.gathering import INDEX, Gathered, contracts_text, index_page, other_modules

if TYPE_CHECKING:
    from relayout.reporting.contracts import Contract

# The labels of units that are gathered: for standard output, for a directory of pages, and for JSON.
PRINTED, WRITTEN, LISTED = "gathered", "page", "row"


def _contracts(found: Sequence[Gathered]) -> list[Contract]:
    """Returns the arrays on which modules disagree; raises ValueError for texts that are no arrays of an entry."""
    # Imported here: one module alone needs none of this.
    from relayout.reporting.contracts import ProgramArray, find_contracts

    return find_contracts([read_finding(ProgramArray, json.loads(text)) for each in found for text in each.arrays])


@dataclass(slots=True)
class Reports(Gatherer[Gathered]):
    """The reports of all gathered modules so far."""

    fail_if: tuple[str, ...] = ()
    output: str | None = None
    has_all: bool = False
    width: int | None = None
    colour: str = "auto"
    _are_written: bool = field(default=False, init=False)

    def add(self, unit: Unit, result: Result) -> Result:
        if not unit.label.startswith((PRINTED, WRITTEN, LISTED)):
            return result
        self._are_written = unit.label.startswith(WRITTEN)
        self.is_json = unit.label.startswith(LISTED)
        added = Gatherer.add(self, unit, result)
        return result if self.is_json else replace(added, output=b"")

    def read(self, unit: Unit, result: Result) -> Gathered | None:
        try:
            said = json.loads(result.output)
            if self.is_json:
                found = Gathered(unit.inputs[0].stem, 0, 0, "", arrays=tuple(map(json.dumps, said["entry"])))
            else:
                found = read_finding(Gathered, said)
            _contracts([found])
        except (ValueError, KeyError, TypeError):
            return None
        return found

    def end(self) -> None:
        """Prints the pages, or writes the list of those in a directory; says on which arrays the modules disagree."""
        found = sorted(self.found, key=lambda each: each.order)
        if not found:
            return
        contracts = _contracts(found)
        conditions = map(parse_condition, self.fail_if)
        failed = [*filter(None, (each.failure_of(len(contracts)) for each in conditions))]
        self.has_failed = bool(failed)
        Console(colour=self.colour).diagnose(map(Diagnostic, failed))
        if self.is_json:
            if contracts or failed:
                print_json({"contracts": [each.as_json() for each in contracts], "failed": failed})
        elif self._are_written:
            write_output(os.path.join(self.output or "", INDEX), encode(index_page(found, contracts)))
        elif self.has_all:
            pages = "\n".join(f"{each.name}:\n{each.page}" for each in found)
            write_output(None, encode(pages + contracts_text(contracts)))
        else:
            rest = other_modules(found[1:], self.width) + contracts_text(contracts)
            write_output(None, encode(f"{found[0].name}:\n{found[0].page}{rest}"))
