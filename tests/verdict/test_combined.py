"""The verdict of a proof and an engine together."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dialect_utils.execution import Worker
from dialect_utils.hlo import parse_module
from dialect_utils.verdict import Options, Verdict, compare_modules
from dialect_utils.verdict.compare import combined
from dialect_utils.verdict.differences import Counterexample, MovedElement, Place
from dialect_utils.verdict.outcome import OutputProof
from dialect_utils.verdict.proof import ProofResult
from dialect_utils.verdict.terms.primitives import TWICE
from tests.verdict.test_compare import FORMS, PLANTED, edited, parse

MOVED = MovedElement(0, (1,), (Place("parameter 0", (1,)), Place("parameter 0", (0,))))
DIFFERENCE = Counterexample(0, (1,), ("0x1", "0x2"), ("1", "2"), 1, 4)
PROVED = ProofResult("equal", "movements: 2 by isl")
OPEN = ProofResult("unknown", "output 0: add and subtract are not known to be equal")
TOLERATED = "xla: on random data ..., which is not guaranteed to be equal"


@pytest.mark.parametrize(
    ("proved", "run", "verdict", "methods"),
    [
        (PROVED, None, "equal", ("proof",)),
        (PROVED, Verdict("agrees", ("xla",), "bits"), "equal", ("proof", "xla")),
        (PROVED, Verdict("unknown", ("xla",), "bits", reason=TOLERATED), "equal", ("proof",)),
        (PROVED, Verdict("unknown", reason="xla: rejected: nobody"), "equal", ("proof",)),
        (PROVED, Verdict("different", ("xla",), "bits", DIFFERENCE), "unknown", ("proof", "xla")),
        (OPEN, None, "unknown", ()),
        (OPEN, Verdict("agrees", ("xla",), "bits"), "agrees", ("xla",)),
        (OPEN, Verdict("different", ("xla",), "bits", DIFFERENCE), "different", ("xla",)),
        (OPEN, Verdict("close", ("xla",), "bits", DIFFERENCE), "close", ("xla",)),
        (ProofResult("different", "moved", MOVED), None, "different", ("proof",)),
        (ProofResult("different", "moved", MOVED), Verdict("agrees", ("xla",), "bits"), "different", ("proof",)),
        (None, Verdict("agrees", ("xla",), "bits"), "agrees", ("xla",)),
    ],
)
def test_what_both_say(proved: ProofResult | None, run: Verdict | None, verdict: str, methods: tuple[str, ...]) -> None:
    found = combined(proved, run)
    assert (found.verdict, found.methods) == (verdict, methods)


def test_reasons_tell_what_a_proof_adds() -> None:
    open_bits = combined(PROVED, Verdict("unknown", ("xla",), "bits", reason=TOLERATED))
    assert open_bits.reason == f"{TOLERATED}; proved equal, so these bits differ only by the engine's choice of order"
    assert open_bits.as_json()["compared"] == "bits; terms of all results; movements: 2 by isl"
    contradicted = combined(PROVED, Verdict("different", ("xla",), "bits", DIFFERENCE, "the results differ"))
    assert contradicted.reason == "proved equal, yet an engine computes something else: the results differ"
    gave_up = combined(OPEN, Verdict("agrees", ("xla",), "bits"))
    assert (gave_up.reason, gave_up.gave_up) == ("", f"no proof: {OPEN.reason}")
    assert gave_up.as_json()["reason"] == f"no proof: {OPEN.reason}"


def test_bits_and_the_moved_element_stand_together() -> None:
    found = combined(ProofResult("different", "moved", MOVED), Verdict("different", ("xla",), "bits", DIFFERENCE))
    assert found.counterexample is not None
    assert found.methods == ("proof", "xla")
    described = found.counterexample.as_json()
    assert described["bits"] == ["0x1", "0x2"]
    assert described["moved"] == [
        {"source": "parameter 0", "index": [1]},
        {"source": "parameter 0", "index": [0]},
    ]
    assert str(found.counterexample).endswith("; parameter 0[1] in one module, parameter 0[0] in the other")


@pytest.mark.parametrize("form", FORMS)
def test_by_default_both_are_asked(worker: Worker, form: str) -> None:
    first, second = FORMS[form]
    found = compare_modules(parse(first), parse(second), worker=worker)
    assert (found.verdict, found.methods, found.compared, found.reason) == ("equal", ("proof", "xla"), "bits", "")
    alone = compare_modules(parse(first), parse(second), Options(engines=("proof",)))
    assert (alone.verdict, alone.methods) == ("equal", ("proof",))
    for hlo_edits, mlir_edits, _ in PLANTED.values():
        wrong = parse(edited(second, hlo_edits if form == "hlo" else mlir_edits))
        assert compare_modules(parse(first), wrong, Options(engines=("proof",))).verdict != "equal"
        found = compare_modules(parse(first), wrong, worker=worker)
        assert (found.verdict, found.methods) == ("different", ("xla",))
        assert found.gave_up


def test_sums_in_any_order_are_settled_by_the_proof(worker: Worker) -> None:
    """A sum over two padded dimensions: engines may round differently, the program is the same."""
    text = """HloModule m
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b) }
ENTRY e {
  p = f32[64,64] parameter(0)
  t = f32[64,64] tanh(p)
  z = f32[] constant(0)
  ROOT r = f32[] reduce(t, z), dimensions={0,1}, to_apply=add
}
"""
    found = compare_modules(
        parse(text), parse(text.replace("p = f32", "q = f32", 1).replace("(p)", "(q)")), worker=worker
    )
    assert (found.verdict, found.methods) == ("equal", ("proof", "xla"))


def test_a_choice_made_twice_leaves_the_verdict_open_for_its_output_only() -> None:
    outputs = (OutputProof(0, is_equal=True), OutputProof(1, is_equal=False, reason=TWICE))
    proved = ProofResult("unknown", "output 1: other sums", outputs=outputs)
    run = Verdict("agrees", ("xla",), "bits", reason=TOLERATED)
    assert combined(proved, replace(run, differing=frozenset([0]))).verdict == "agrees"
    assert combined(proved, replace(run, differing=frozenset([1]))).verdict == "unknown"


def test_an_order_that_the_engine_may_choose_contradicts_no_proof(worker: Worker) -> None:
    function = "f { a = f64[] parameter(0)\n  b = f64[] parameter(1)\n  ROOT c = f64[] multiply(a, b) }"
    head = f"HloModule m\n{function}\nENTRY e {{\n"
    parts = "\n".join(f"  part{i} = f64[1,2] slice(x), slice={{[{i}:{i + 1}], [0:2]}}" for i in range(4))
    first = f"""{head}  x = f64[4,2] parameter(0)
{parts}
  p = f64[1,2] multiply(part0, part1)
  q = f64[1,2] multiply(part2, part3)
  r = f64[1,2] multiply(q, p)
  ROOT y = f64[2] reshape(r)
}}
"""
    last = f"""{head}  x = f64[4,2] parameter(0)
  one = f64[] constant(1)
  ROOT y = f64[2] reduce(x, one), dimensions={{0}}, to_apply=f
}}
"""
    found = compare_modules(parse_module(first, "a"), parse_module(last, "b"), Options(power=0), worker)
    assert (found.verdict, found.counterexample) == ("equal", None)
    assert "order of sums" in found.choices
    # Twice the product is another function, whatever the order.
    twice = parse_module(last.replace("constant(1)", "constant(2)"), "c")
    assert compare_modules(parse_module(first, "a"), twice, Options(power=0), worker).verdict == "different"
