from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from dialect_utils.execution import run_module
from dialect_utils.hlo import HloModule, parse_module
from dialect_utils.text import DiagnosticError
from passes.dumps.elided import take_constants
from passes.dumps.executable import executable_form
from passes.dumps.expand_custom_calls import EXPANSIONS
from passes.dumps.make_portable import make_portable
from passes.framework.pipeline import verify
from tests.conftest import Workers
from tests.passes.dump_files import OWN, SHARED, Dump, difference, dumps, run

SHARED_DUMPS = [pytest.param(dump, marks=pytest.mark.shared(SHARED)) for dump in dumps(SHARED)]
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


# The layouts differ from the order of the dimensions, which are those of the logical array.
REVERSED = """HloModule m, is_scheduled=true

f {
  a = f32[3,5]{0,1:T(4,128)} parameter(0)
  ROOT n = f32[3,5]{0,1:T(4,128)} negate(a)
}

ENTRY e {
  p = f32[3,5]{0,1:T(4,128)} parameter(0)
  g = f32[3,5]{0,1:T(4,128)} fusion(p), kind=kLoop, calls=f, backend_config=FIRST
  ROOT r = f32[3,5]{0,1:T(4,128)} add(g, p), backend_config=SECOND
}
"""


def writes_in_reverse(*dims: int) -> str:
    listed = ",".join(f'"{dim}"' for dim in dims)
    return f'{{"window_config":{{"output_window_bounds":["1","1"],"output_reverse_dimensions":[{listed}]}}}}'


@pytest.mark.parametrize(("first", "second"), [((), ()), ((0,), ()), ((1,), ()), ((), (0,)), ((1,), (0, 1))])
def test_results_written_in_reverse_are_reversed(first: tuple[int, ...], second: tuple[int, ...]) -> None:
    text = REVERSED.replace("FIRST", writes_in_reverse(*first)).replace("SECOND", writes_in_reverse(*second))
    x = np.arange(15, dtype=np.float32).reshape(3, 5) ** 2
    (found,) = run_module(executable_form(parse_module(text)), [x])
    assert np.array_equal(found, np.flip(np.flip(-x, first) + x, second))


@pytest.mark.parametrize("dims", [(2,), (-1,), (0, 0)])
def test_dimensions_that_cannot_be_reversed_are_errors(dims: tuple[int, ...]) -> None:
    text = REVERSED.replace("FIRST", writes_in_reverse(*dims)).replace("SECOND", writes_in_reverse())
    with pytest.raises(DiagnosticError, match=r"fusion g writes dimensions .* in reverse, but these are no dimensions"):
        make_portable(parse_module(text))


def test_arrays_of_a_tuple_are_not_reversed_by_guess() -> None:
    text = f"""HloModule m, is_scheduled=true

f {{
  a = f32[3] parameter(0)
  n = f32[3] negate(a)
  ROOT t = (f32[3], f32[3]) tuple(a, n)
}}

ENTRY e {{
  p = f32[3] parameter(0)
  ROOT r = (f32[3], f32[3]) fusion(p), kind=kLoop, calls=f, backend_config={writes_in_reverse(0)}
}}
"""
    with pytest.raises(DiagnosticError, match="these are no dimensions of one array"):
        make_portable(parse_module(text))


def test_a_token_that_waits_for_an_array_is_dropped() -> None:
    text = """HloModule m, is_scheduled=true

ENTRY e {
  p = f32[3]{0} parameter(0)
  n = f32[3]{0} negate(p)
  t = token[] after-all(n)
  d = f32[3]{0} add-dependency(p, t)
  ROOT r = f32[3]{0} add(d, d)
}
"""
    module = parse_module(text)
    verify(module)
    (found,) = run_module(executable_form(module), [np.arange(3, dtype=np.float32)])
    assert list(found) == [0, 2, 4]


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
