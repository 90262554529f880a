"""The kept pairs of a program for one device and for several: proofs, and none for a planted mistake."""

from __future__ import annotations

from pathlib import Path

import pytest

from dialect_utils.io.files import read_module
from dialect_utils.verdict.certified import prove
from dialect_utils.verdict.partition import partitions_of, read_partition
from dialect_utils.verdict.proof import ProofResult
from tests.corpus.sharded.running import program_file
from tests.paths import OWN_CORPUS

PAIRS = sorted(path.parent for path in (OWN_CORPUS / "sharded_pairs").glob("*/a.mlir"))
MISTAKES = [
    path for pair in PAIRS for path in sorted(pair.glob("*-*")) if path.suffix in (".hlo", ".mlir")
]  # the names of the pairs' own files have no hyphen


def proved(pair: Path, program: Path) -> ProofResult:
    stages = [read_module(str(pair / "a.mlir")), read_module(str(program))]
    if program.suffix == ".hlo":
        partition = read_partition((pair / "placements.json").read_text("utf-8"), "placements.json")
    else:
        # The entry of such a program has whole arrays; the text says how they are split.
        partition = next(partitions_of(*stages))
    return prove(stages, partition=partition)


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.name)
def test_a_program_for_several_devices_is_proved(pair: Path) -> None:
    found = proved(pair, program_file(pair))
    assert found.answer == "equal", found.reason


@pytest.mark.parametrize("program", MISTAKES, ids=lambda path: f"{path.parent.name}: {path.stem}")
def test_a_mistake_is_not_proved(program: Path) -> None:
    assert proved(program.parent, program).answer != "equal"


def test_each_pair_has_two_mistakes() -> None:
    assert (len(PAIRS), len(MISTAKES)) == (10, 20)
