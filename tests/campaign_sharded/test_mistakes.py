"""The edits that plant mistakes: how they read groups of devices, and what they make of the kept pairs."""

from __future__ import annotations

import pytest

from dialect_utils.hlo import parse_module as parse_hlo
from dialect_utils.stablehlo import parse_module as parse_stablehlo
from passes.framework.pipeline import verify
from tests.campaign_sharded.mistakes import MISTAKES, Program, groups_of
from tests.corpus.keep_sharded import HERE, KEPT
from tests.corpus.sharded.running import Placements, program_file

ROWS = [[0, 1, 2, 3], [4, 5, 6, 7]]
COLUMNS = [[0, 4], [1, 5], [2, 6], [3, 7]]
# No kept pair has a maximum over devices, a table, or a dimension that another one could replace.
ABSENT = {"another dimension", "sum instead of maximum", "table of the device rotated"}


@pytest.mark.parametrize(
    ("text", "groups"),
    [
        ("replica_groups={{0,1,2,3},{4,5,6,7}}, to_apply=%add", ROWS),
        ("replica_groups={}, to_apply=%add", [[0, 1, 2, 3, 4, 5, 6, 7]]),
        ("replica_groups=[2,4]<=[8], dimensions={0}", ROWS),
        ("replica_groups=[4,2]<=[2,4]T(1,0), dimensions={0}", COLUMNS),
        ("replica_groups=mesh['a'=2,'b'=4] {'b'}, to_apply=%add", ROWS),
        ("replica_groups=mesh['a'=2,'b'=4] {'a'}, to_apply=%add", COLUMNS),
        ("replica_groups=mesh['a'=4,'b'=2], device_ids=([2,4]T(1,0)) {'b'}, dimensions={1}", COLUMNS),
        ("<{replica_groups = dense<[[0, 1, 2, 3], [4, 5, 6, 7]]> : tensor<2x4xi64>}>", ROWS),
    ],
)
def test_groups_of_devices_in_each_notation(text: str, groups: list[list[int]]) -> None:
    found = groups_of(text, 8)
    assert found is not None
    assert found[1] == groups
    assert found[0] in text


def test_each_kind_finds_a_place_and_makes_a_module_that_verifies() -> None:
    found = set()
    for name in KEPT:
        path, devices = program_file(HERE / name), Placements.read(HERE / name / "placements.json").devices
        is_hlo, text = path.suffix == ".hlo", path.read_text("utf-8")
        program = Program(text, devices, is_hlo=is_hlo)
        for kind, edit in MISTAKES.items():
            made = next(edit(program), None)
            if made is not None and kind not in found:
                assert made != text
                verify((parse_hlo if is_hlo else parse_stablehlo)(made, f"{kind} in {name}"))
                found.add(kind)
    assert set(MISTAKES) - found == ABSENT
