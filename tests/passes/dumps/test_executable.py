"""What executes in place of a dump, and which modules are one."""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
import pytest

from dialect_utils.execution import run_module
from dialect_utils.hlo import parse_module
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
