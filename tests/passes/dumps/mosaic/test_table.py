"""The table of ops in docs/mosaic.md is equal to the one in the code."""

from __future__ import annotations

from passes.dumps.mosaic.expand import FAMILIES, OPS
from tests.paths import ROOT


def documented() -> str:
    """Returns the table of docs/mosaic.md: one part for each family, rows in the order of the code."""
    parts = []
    for family, rows in FAMILIES.items():
        lines = [f"| {family} | operands | HLO |", "|---|---|---|"]
        lines += [f"| `{name}` | {row.operands} | {row.becomes} |" for row in rows for name in row.names.split()]
        parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n"


def test_the_documentation_lists_every_op() -> None:
    text = (ROOT / "docs" / "mosaic.md").read_text("utf-8")
    assert text.partition("## Ops\n\n")[2] == documented()


def test_no_op_is_in_two_families() -> None:
    assert len(OPS) == sum(len(row.names.split()) for rows in FAMILIES.values() for row in rows)
