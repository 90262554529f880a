"""Fusions joined at one value: every candidate of a fused module is proved and executed, and reads what it computes."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from dialect_utils.execution import Worker
from dialect_utils.hlo import HloModule, parse_module
from dialect_utils.text import DiagnosticError
from passes.framework.pipeline import Pipeline
from passes.fusions import copy_once, fuse_into_users, fuse_with_user
from relayout.testing import compare_values

TARGET = "tpu-v5e"
MODULE = """
HloModule m, is_scheduled=true

%add {
  %x = f32[] parameter(0)
  %y = f32[] parameter(1)
  ROOT %s = f32[] add(%x, %y)
}

%scaled {
  %p = f32[8,6]{1,0} parameter(0)
  %two = f32[] constant(2)
  %twos = f32[8,6]{1,0} broadcast(%two), dimensions={}
  %m = f32[8,6]{1,0} multiply(%p, %twos)
  %q = f32[8,6]{1,0} abs(%p)
  ROOT %t = (f32[8,6]{1,0}, f32[8,6]{1,0}) tuple(%m, %q)
}

%named {
  %p = f32[48]{0} parameter(0)
  ROOT %b = f32[6,8]{1,0} bitcast(%p)
}

%products {
  %p = f32[48]{0} parameter(0)
  %f = f32[6,8]{1,0} fusion(%p), kind=kLoop, calls=%named
  %q = f32[8,6]{1,0} parameter(1)
  ROOT %d = f32[6,6]{1,0} dot(%f, %q), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}

ENTRY %main {
  %p = f32[8,6]{1,0} parameter(0)
  %pair = (f32[8,6]{1,0}, f32[8,6]{1,0}) fusion(%p), kind=kLoop, calls=%scaled
  %left = f32[8,6]{1,0} get-tuple-element(%pair), index=0
  %right = f32[8,6]{1,0} get-tuple-element(%pair), index=1
  %zero = f32[] constant(0)
  %sums = f32[6]{0} reduce(%left, %zero), dimensions={0}, to_apply=%add
  %total = f32[8,6]{1,0} broadcast(%sums), dimensions={1}
  %less = f32[8,6]{1,0} subtract(%right, %total)
  %line = f32[48]{0} bitcast(%less)
  %product = f32[6,6]{1,0} fusion(%line, %left), kind=kOutput, calls=%products
  %back = f32[6,6]{0,1} copy(%product)
  ROOT %all = (f32[6,6]{0,1}, f32[8,6]{1,0}) tuple(%back, %less)
}
"""
CANDIDATES: dict[str, Callable[[HloModule, str], Iterator[str]]] = {
    "fuse-into-users": fuse_into_users.candidates,
    "fuse-with-user": fuse_with_user.candidates,
    "copy-once": copy_once.candidates,
}


def changed(text: str, module: HloModule) -> HloModule:
    """Returns a module after passes, read again from its text."""
    return parse_module(Pipeline.parse(text).run(module).module.text(), "<changed>")


@pytest.mark.parametrize("name", CANDIDATES)
def test_every_candidate_computes_the_same_also_after_another(name: str, worker: Worker) -> None:
    module = parse_module(MODULE, "m.hlo")
    first = [*CANDIDATES[name](module, TARGET)]
    assert len(first) >= 2
    for text in first:
        [step] = Pipeline.parse(text).passes
        verdict = compare_values(step, module, worker)
        assert verdict is not None
        assert verdict.verdict in ("equal", "agrees"), text
        for more in CANDIDATES.values():
            for second in more(changed(text, module), TARGET):
                [again] = Pipeline.parse(second).passes
                found = compare_values(again, changed(text, module), worker)
                assert found is not None
                assert found.found_no_difference, (text, second)


def entry(text: str, module: str = MODULE) -> str:
    return changed(text, parse_module(module, "m.hlo")).text().partition("ENTRY")[2]


def test_a_value_is_not_stored_any_more() -> None:
    found = entry("fuse-into-users{value=total}")
    assert " broadcast(" not in found
    assert "%less = f32[8,6]{1,0} fusion(%sums, %right)" in found


def test_a_reduction_is_a_result_of_a_fusion_only() -> None:
    with pytest.raises(DiagnosticError, match="no fusion can compute sums"):
        entry("fuse-into-users{value=sums}")
    # The fusion yields the sums, too; the operation that reads both waits for them.
    joined = changed("fuse-with-user{value=pair},fuse-into-users{value=total}", parse_module(MODULE, "m.hlo"))
    with pytest.raises(DiagnosticError, match=r"no fusion can compute sums\.fused"):
        entry(
            "fuse-with-user{value=sums.fused}",
            joined.text()
            .replace("fusion(%line, %left)", "fusion(%line, %q)")
            .replace("ENTRY %main {", "ENTRY %main {\n  %q = f32[8,6]{1,0} parameter(1)"),
        )


def test_one_fusion_yields_both_values_and_reads_its_operand_once() -> None:
    found = entry("fuse-with-user{value=pair}")
    assert "%sums.fused = (f32[8,6]{1,0}, f32[8,6]{1,0}, f32[6]{0}) fusion(%p), kind=kLoop" in found
    assert found.count("fusion(%p)") == 1


def test_a_product_reads_a_loop_that_makes_its_operand() -> None:
    whole = changed("fuse-into-users{value=less}", parse_module(MODULE, "m.hlo"))
    [product] = [each for each in whole.entry.operations if each.attribute("kind") == "kOutput"]
    opcodes = [each.opcode for each in product.called[0].operations]
    assert opcodes == ["fusion", "dot"]
    inner = product.called[0].operations[0].called[0]
    assert [each.opcode for each in inner.operations] == ["subtract", "bitcast", "bitcast"]


def test_an_operation_with_a_control_dependency_stays() -> None:
    controlled = MODULE.replace("subtract(%right, %total)", "subtract(%right, %total), control-predecessors={%sums}")
    for value in ("sums", "less", "total"):
        with pytest.raises(DiagnosticError, match="no fusion can compute"):
            entry(f"fuse-into-users{{value={value}}}", controlled)


def test_products_are_not_joined_with_products() -> None:
    twice = MODULE.replace(
        "  %back = f32[6,6]{0,1} copy(%product)",
        "  %square = f32[6,6]{1,0} fusion(%product, %product), kind=kOutput, calls=%squares\n"
        "  %back = f32[6,6]{0,1} copy(%square)",
    ).replace(
        "ENTRY %main {",
        "%squares {\n  %p = f32[6,6]{1,0} parameter(0)\n  %q = f32[6,6]{1,0} parameter(1)\n"
        "  ROOT %d = f32[6,6]{1,0} dot(%p, %q), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n}\n\nENTRY %main {",
    )
    with pytest.raises(DiagnosticError, match="no fusion can compute product"):
        entry("fuse-into-users{value=product}", twice)


def test_a_user_that_waits_for_another_one_is_not_joined() -> None:
    waiting = MODULE.replace("subtract(%right, %total)", 'custom-call(%total), custom_call_target="f"').replace(
        "%line = f32[48]{0} bitcast(%less)",
        "%both = f32[8,6]{1,0} add(%less, %total)\n  %line = f32[48]{0} bitcast(%both)",
    )
    with pytest.raises(DiagnosticError, match="another user of total is computed before both"):
        entry("fuse-with-user{value=total}", waiting)
