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


SHARED = """HloModule m, is_scheduled=true{header}

ENTRY %main {{
  %x = f32[2048,1024]{{1,0:T(8,128)}} parameter(0)
  %n = f32[2048,1024]{{1,0:T(8,128)}} negate(%x)
  %turned = f32[2048,1024]{{0,1:T(8,128)}} copy({source}), sharding={{replicated}}
  %rows = f32[128,8,16,128]{{3,1,2,0:T(8,128)}} bitcast(%turned)
  %also = f32[1024,2048]{{1,0:T(8,128)}} bitcast(%turned)
  %first = f32[128,8,16,128]{{3,2,1,0:T(8,128)}} copy(%rows)
  %joined = f32[1024,16,128]{{2,1,0:T(8,128)}} bitcast(%first)
  %last = f32[1024,16,128]{{0,1,2:T(8,128)}} copy(%joined)
  %cos = f32[1024,16,128]{{0,1,2:T(8,128)}} cosine(%last)
  {user}
  ROOT %all = (f32[1024,16,128]{{0,1,2:T(8,128)}}, f32[1024,2048]{{1,0:T(8,128)}}, {type}) tuple(%cos, %also, %u)
}}
"""
TYPE = "f32[2048,1024]{1,0:T(8,128)}"
READ = f"%u = {TYPE} tanh(%n)"
CALL = f'%u = {TYPE} custom-call(%n), custom_call_target="f", output_to_operand_aliasing={{{{}}: (0, {{}})}}'
TUPLE = f"%t = ({TYPE}) tuple(%n)\n  %u = {TYPE} get-tuple-element(%t), index=0"


def copies_of(text: str) -> list[str]:
    """Returns the names of the copies that the pass leaves."""
    return [
        each.results[0].name for each in changed("reroute-relayout", text).entry.operations if each.opcode == "copy"
    ]


@pytest.mark.parametrize("source", ["%x", "%n"])
def test_the_source_may_come_before_values_that_others_read(source: str, worker: Worker) -> None:
    text = SHARED.format(header="", source=source, user=READ, type=TYPE)
    [step] = Pipeline.parse("reroute-relayout").passes
    verdict = compare_values(step, parse_module(text, "m.hlo"), worker)
    assert verdict is not None
    assert verdict.verdict == "equal"
    kept, new = copies_of(text)
    assert kept == "turned"
    assert new not in ("first", "last")


@pytest.mark.parametrize(
    ("header", "source", "user"),
    [
        (", input_output_alias={ {2}: (0, {}, may-alias) }", "%x", READ),
        ("", "%n", CALL),
        ("", "%n", TUPLE),
    ],
    ids=["an argument", "a call", "a tuple"],
)
def test_a_source_that_an_operation_may_overwrite_is_not_read_later(header: str, source: str, user: str) -> None:
    text = SHARED.format(header=header, source=source, user=user, type=TYPE)
    assert copies_of(text) == ["turned", "first", "last"]
