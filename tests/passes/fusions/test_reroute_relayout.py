"""Relayouts on other routes: every candidate is proved and executed, and keeps what other operations read."""

from __future__ import annotations

import pytest

from dialect_utils.execution import Worker
from dialect_utils.hlo import HloModule, parse_module
from dialect_utils.text import DiagnosticError
from passes.framework.pipeline import Pipeline
from passes.fusions.reroute_relayout import candidates
from relayout.testing import compare_values

TARGET = "tpu-v5e"
MODULE = """
HloModule m, is_scheduled=true

ENTRY %main {
  %p = f32[2,24,256]{2,1,0:T(8,128)} parameter(0)
  %split = f32[2,24,32,8]{3,2,1,0:T(8,128)} reshape(%p)
  %moved = f32[2,24,32,8]{1,2,3,0:T(8,128)} copy(%split)
  %seen = f32[2,8,32,24]{3,2,1,0:T(8,128)} bitcast(%moved)
  %joined = f32[2,8,768]{2,1,0:T(8,128)} reshape(%seen)
  ROOT %n = f32[2,8,768]{2,1,0:T(8,128)} negate(%joined)
}
"""


def changed(text: str, module: str = MODULE) -> HloModule:
    return parse_module(Pipeline.parse(text).run(parse_module(module, "m.hlo")).module.text(), "<changed>")


def test_every_candidate_computes_the_same(worker: Worker) -> None:
    module = parse_module(MODULE, "m.hlo")
    found = [*candidates(module, TARGET)]
    assert found == ["reroute-relayout{value=%moved}", "reroute-relayout{value=%joined}"]
    for text in found:
        [step] = Pipeline.parse(text).passes
        verdict = compare_values(step, module, worker)
        assert verdict is not None
        assert verdict.verdict == "equal", text
    assert [each.opcode for each in changed(found[-1]).entry.operations if "reshape" in each.opcode] == []


def test_values_that_other_operations_read_stay() -> None:
    shared = MODULE.replace("ROOT %n", "%also = f32[2,24,32,8]{3,2,1,0:T(8,128)} abs(%split)\n  ROOT %n")
    with pytest.raises(DiagnosticError, match="no other copies lead to moved"):
        changed("reroute-relayout{value=moved}", shared)
    found = [each.opcode for each in changed("reroute-relayout", shared).entry.operations]
    assert found.count("reshape") >= 1


def test_a_type_that_changes_twice_rounds() -> None:
    rounded = MODULE.replace(
        "%split = f32[2,24,32,8]{3,2,1,0:T(8,128)}", "%split = bf16[2,24,32,8]{3,2,1,0:T(8,128)(2,1)}"
    )
    found = changed("reroute-relayout", rounded)
    assert ["bf16" in str(each.results[0].shape) for each in found.entry.operations].count(True) >= 1


@pytest.mark.parametrize("text", ["control-predecessors={%split}", "sharding={replicated}"])
def test_operations_that_compilers_hold_in_place_stay(text: str) -> None:
    held = MODULE.replace("copy(%split)", f"copy(%split), {text}")
    assert "%moved = f32[2,24,32,8]{1,2,3,0:T(8,128)} copy(" in changed("reroute-relayout", held).text()
