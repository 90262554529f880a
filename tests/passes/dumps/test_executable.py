"""The executable form of dumps, and the recognition of dumps."""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
import pytest

from dialect_utils.execution import Worker, prepare, run_module
from dialect_utils.hlo import HloModule, parse_module
from dialect_utils.text import DiagnosticError
from passes.dumps.executable import executable_form, is_optimized_dump

PARTITIONED = """HloModule m, num_partitions=2

sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}

ENTRY e {
  p = f32[3] parameter(0)
  ROOT r = f32[3] OPERATION
}
"""


@pytest.mark.parametrize(
    ("operation", "is_dump"),
    [
        ("all-reduce(p), channel_id=1, replica_groups={{0,1}}, use_global_device_ids=true, to_apply=sum", True),
        ("negate(p)", False),
    ],
)
def test_partitions_that_talk_to_each_other_are_a_dump(operation: str, is_dump: bool) -> None:
    module = parse_module(PARTITIONED.replace("OPERATION", operation), "m")
    assert is_optimized_dump(module) is is_dump
    with pytest.raises(DiagnosticError, match="all-reduce r is for 2 devices, not 1") if is_dump else nullcontext():
        run_module(executable_form(module), [np.ones(3, np.float32)])


SHARING = """HloModule m, input_output_alias={ {0}: (0, {0}, may-alias) }, buffer_donor={ (0, {1}) }

ENTRY e {
  p = (f32[3], f32[3]) parameter(0)
  a = f32[3] get-tuple-element(p), index=0
  b = f32[3] call(a), to_apply=later
  ROOT t = (f32[3], f32[3]) tuple(b, a)
}

later {
  x = f32[3] parameter(0)
  ROOT y = f32[3] negate(x)
}
"""


def test_the_executable_form_has_no_aliases_and_callees_first() -> None:
    # XLA aborts on an aliased tuple element, and cannot read a computation before its callees.
    module = parse_module(SHARING, "m")
    found = executable_form(module)
    assert isinstance(found, HloModule)
    assert not {"input_output_alias", "buffer_donor"} & found.attributes.keys()
    assert [each.name for each in found.computations] == ["later", "e"]
    assert module.text() == SHARING
    ones = np.ones(3, np.float32)
    assert [list(each) for each in run_module(found, [ones, ones])] == [[-1, -1, -1], [1, 1, 1]]


def test_an_executable_module_stays_the_same_object() -> None:
    module = parse_module(SHARING.replace(", input_output_alias={ {0}: (0, {0}, may-alias) }", ""), "m")
    ordered = executable_form(module)
    assert ordered is not module
    assert executable_form(ordered) is ordered


def test_total_orders_are_written_so_that_every_jaxlib_reads_them(worker: Worker) -> None:
    """Orders -nan below all numbers and -0 below 0, which plain comparisons do not."""
    line = "compare(a, b), direction=LT, order="
    text = "ENTRY e {\n  a = f32[3] parameter(0)\n  b = f32[3] parameter(1)\n"
    text += f"  c = pred[3] {line}TOTAL\n  d = pred[3] {line}PARTIAL\n  ROOT t = (pred[3], pred[3]) tuple(c, d)\n}}\n"
    form = executable_form(parse_module(text))
    assert "type=TOTALORDER" in form.text()
    assert "order=" not in form.text()
    a, b = np.array([-0.0, 1, -np.nan], np.float32), np.array([0, 2, 1], np.float32)
    total, partial = worker.run(prepare(form, "<test>"), [[a, b]])[0]
    assert total.tolist() == [True, True, bool(np.signbit(a[2]))]
    assert partial.tolist() == [False, True, False]
