"""The executable form of dumps, and the recognition of dumps."""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
import pytest

from dialect_utils.execution import Worker, prepare, run_module
from dialect_utils.hlo import HloModule, parse_module
from dialect_utils.ops import HLO_NAMES, OPCODES, Trait, with_trait
from dialect_utils.text import DiagnosticError
from passes.dumps.executable import executable_form, is_optimized_dump
from tests.passes.dump_files import UNOPTIMIZED

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
    total, partial = worker.run(prepare(form, "<test>"), [[a, b]], options=UNOPTIMIZED)[0]
    assert total.tolist() == [True, True, bool(np.signbit(a[2]))]
    assert partial.tolist() == [False, True, False]


STABLE = """HloModule m

ENTRY e {
  x = KIND[2,5] parameter(0)
  ROOT t = (KIND[2,3], s32[2,3]) topk(x), k=3ATTRIBUTES
}
"""
# Equal numbers stay in order; the total order has -0 below 0 and NaN above infinity.
KEYS = np.array([[1, 2, 1, 2, 2], [3, 3, 3, 3, 3]], np.int32)
FLOATS = np.array([[0.0, -0.0, np.nan, 1, np.inf], [-0.0, 0.0, -1, 0.0, -np.inf]], np.float32)


@pytest.mark.parametrize(
    ("attributes", "kind", "keys", "places"),
    [
        (", is_stable=true", "s32", KEYS, [[1, 3, 4], [0, 1, 2]]),
        (", largest=true, is_stable=true", "f32", FLOATS, [[2, 4, 3], [1, 3, 0]]),
        (", largest=false, is_stable=true", "s32", KEYS, [[0, 2, 1], [0, 1, 2]]),
        (", largest=false, is_stable=true", "f32", FLOATS, [[1, 0, 3], [4, 2, 0]]),
    ],
)
def test_a_stable_topk_keeps_the_order_of_equal_elements(
    attributes: str, kind: str, keys: np.ndarray, places: list[list[int]], worker: Worker
) -> None:
    module = parse_module(STABLE.replace("KIND", kind).replace("ATTRIBUTES", attributes))
    for engine in ("xla", "reference"):
        values, indices = run_module(executable_form(module), [keys], engine=engine, worker=worker)
        assert indices.tolist() == places
        assert np.array_equal(values, np.take_along_axis(keys, indices, 1), equal_nan=kind == "f32")


def test_an_unstable_topk_says_nothing(worker: Worker) -> None:
    module = parse_module(STABLE.replace("KIND", "s32").replace("ATTRIBUTES", ", is_stable=false"))
    found = executable_form(module)
    assert [item.attribute("is_stable") for item in found.operations() if item.opcode == "topk"] == [None]
    values, _ = run_module(found, [KEYS], worker=worker)
    assert values.tolist() == [[2, 2, 2], [3, 3, 3]]


SHARDED = """HloModule m

ENTRY e {
  x = f32[3] parameter(0)
  n = f32[3] negate(x)
  a = f32[3] custom-call(n), custom_call_target="xla.sdy.TARGET", custom_call_has_side_effect=true
  ROOT m = SHAPE custom-call(a), custom_call_target="xla.sdy.PropagationBarrier"
}
"""


@pytest.mark.parametrize("target", ["FuncResultSharding", "GlobalToLocalShape", "LocalToGlobalShape"])
def test_calls_of_shardy_return_their_operand(target: str, worker: Worker) -> None:
    module = parse_module(SHARDED.replace("TARGET", target).replace("SHAPE", "f32[3]"))
    (found,) = run_module(executable_form(module), [np.arange(3, dtype=np.float32)], worker=worker)
    assert found.tolist() == [0, -1, -2]


def test_a_call_of_shardy_that_changes_the_shape_is_an_error(worker: Worker) -> None:
    module = parse_module(SHARDED.replace("TARGET", "FuncResultSharding").replace("SHAPE", "f32[6]"))
    with pytest.raises(DiagnosticError, match="its result is"):
        executable_form(module)
    module = parse_module(SHARDED.replace("TARGET", "Unknown").replace("SHAPE", "f32[3]"))
    with pytest.raises(DiagnosticError, match=r"xla\.sdy\.Unknown must not run here"):
        run_module(executable_form(module), [np.zeros(3, np.float32)], worker=worker)


@pytest.mark.parametrize("target", ["AllocateBuffer", "AssumeGatherIndicesInBound"])
def test_calls_that_a_compiler_writes_between_passes_are_expanded_there(target: str) -> None:
    operands = "" if target == "AllocateBuffer" else "x"
    module = parse_module(f"""HloModule m
ENTRY e {{
  x = f32[4]{{0}} parameter(0)
  b = f32[4]{{0}} custom-call({operands}), custom_call_target="{target}"
  ROOT r = f32[4]{{0}} add(b, x)
}}
""")
    assert is_optimized_dump(module)
    assert "custom-call" not in executable_form(module).text()


def test_calls_that_engines_run_make_no_dump() -> None:
    module = parse_module("""HloModule m
ENTRY e {
  x = f32[4]{0} parameter(0)
  ROOT b = f32[4]{0} custom-call(x), custom_call_target="MoveToHost"
}
""")
    assert not is_optimized_dump(module)


# jaxlib converts these in ways of its own, or rejects them with its reason.
_CONVERTED = {"copy", "erf", "stochastic-convert"}


@pytest.mark.parametrize(
    "opcode",
    sorted(
        each for each in with_trait(Trait.ELEMENTWISE) & HLO_NAMES if not OPCODES[each].mlir and each not in _CONVERTED
    ),
)
def test_operations_that_stablehlo_lacks_run_outside_of_dumps(opcode: str) -> None:
    kind, count = ("u32", 2) if opcode == "mulhi" else ("f32", 1)
    operands = [f"p{number} = {kind}[3] parameter({number})" for number in range(count)]
    names = ", ".join(f"p{number}" for number in range(count))
    lines = "\n  ".join([*operands, f"ROOT r = {kind}[3] {opcode}({names})"])
    module = parse_module(f"HloModule m\n\nENTRY e {{\n  {lines}\n}}\n", "m")
    inputs = [np.ones(3, np.uint32 if kind == "u32" else np.float32)] * count
    assert not is_optimized_dump(module)
    assert len(run_module(executable_form(module), inputs)) == 1
