from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from dialect_utils.hlo import HloModule, parse_module
from dialect_utils.text import DiagnosticError
from passes.dumps.expand_custom_calls import EXPANSIONS
from passes.dumps.make_portable import make_portable, take_constants
from passes.framework.pipeline import verify
from tests.conftest import Workers
from tests.passes.dump_files import OWN, SHARED, Dump, difference, dumps, run

SHARED_DUMPS = dumps(SHARED)
OWN_DUMPS = dumps(OWN)
# Instructions in dumps of external programs that have no portable form.
_REFUSED = re.compile(r"is elided")


def named(dump: Dump) -> str:
    return dump.name


def check(dump: Dump, workers: Workers) -> None:
    try:
        found = run(dump, workers)
    except DiagnosticError as error:
        if _REFUSED.search(str(error)):
            pytest.skip(str(error.diagnostics[0].message))
        raise
    assert found == []


@pytest.mark.skipif(not SHARED_DUMPS, reason="no dumps beside this tree")
@pytest.mark.parametrize("dump", SHARED_DUMPS, ids=named)
def test_dumps_beside_this_tree_run_and_match(dump: Dump, workers: Workers) -> None:
    check(dump, workers)


@pytest.mark.parametrize("dump", OWN_DUMPS, ids=named)
def test_dumps_of_this_tree_run_and_match(dump: Dump, workers: Workers) -> None:
    check(dump, workers)


@pytest.mark.parametrize("dump", [*SHARED_DUMPS, *OWN_DUMPS], ids=named)
def test_nothing_of_the_target_is_left_and_every_bitcast_is_proved(dump: Dump) -> None:
    module = dump.module()
    try:
        bitcasts = make_portable(module)
    except DiagnosticError as error:
        pytest.skip(str(error.diagnostics[0].message))
    verify(module)
    assert leftovers(module) == []
    assert {bitcast.decided_by for bitcast in bitcasts} <= {"same layout", "isl", "enumeration"}
    again = parse_module(module.text(), dump.name)
    make_portable(again)
    assert again.text() == module.text()


def leftovers(module: HloModule) -> list[str]:
    """Returns the instructions that only the target executes."""
    found = []
    for computation in module.computations:
        for item in computation.instructions:
            if item.opcode in ("fusion", "bitcast") or item.opcode.endswith(("-start", "-done", "-update")):
                found.append(item.name)
            if item.opcode == "custom-call" and item.callee in EXPANSIONS:
                found.append(item.name)
            if any(leaf.layout is not None for leaf in item.shape.arrays()):
                found.append(item.name)
    return found


@pytest.mark.parametrize("file", sorted(OWN.glob("*/tpu_elided.hlo")), ids=lambda file: file.parent.name)
def test_elided_constants_are_refused_or_taken_from_the_full_dump(file: Path) -> None:
    full, elided = Dump(file.parent), Dump(file.parent, file.name)
    with pytest.raises(DiagnosticError, match="is elided: its values are not in this text"):
        make_portable(elided.module())
    module = elided.module()
    take_constants(module, full.module())
    make_portable(module)
    wanted = full.module()
    make_portable(wanted)
    assert module.text() == wanted.text()


def test_a_wrong_op_is_found(workers: Workers) -> None:
    dump = next(dump for dump in OWN_DUMPS if dump.name == "rms_and_group_norm")
    planted = PlantedDump(dump.folder, dump.text().replace(" add(", " subtract("))
    assert planted.text() != dump.text()
    assert run(planted, workers) != []


class PlantedDump(Dump):
    def __init__(self, folder: object, text: str) -> None:
        object.__setattr__(self, "folder", folder)
        object.__setattr__(self, "file", text)

    def text(self) -> str:
        return self.file


def test_the_comparison_detects_a_difference() -> None:
    shape = next(parse_module("ENTRY e { p = f32[3] parameter(0) }").entry.root.shape.arrays())
    expected = np.array([1.0, np.nan, np.inf], np.float32)
    assert difference(expected, expected, shape) is None
    assert difference(np.array([1.1, np.nan, np.inf], np.float32), expected, shape) == "differs by 0.1 of 1"
    assert difference(np.array([1.0, 1.0, np.inf], np.float32), expected, shape) is not None
    assert difference(np.array([np.nan, np.nan, np.inf], np.float32), expected, shape) is not None
