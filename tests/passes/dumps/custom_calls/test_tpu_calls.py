import numpy as np
import pytest

from dialect_utils.execution import Worker, prepare
from dialect_utils.hlo import parse_module
from dialect_utils.text import DiagnosticError
from passes.dumps.custom_calls.tpu_calls import TPU_CALLS, TPU_EXPANSIONS, format_table
from passes.dumps.expand_custom_calls import expand_custom_calls
from passes.dumps.make_portable import make_portable
from tests.passes.dump_files import UNOPTIMIZED
from tests.paths import ROOT


def test_the_documentation_lists_what_is_expanded() -> None:
    text = (ROOT / "docs" / "dumps.md").read_text("utf-8")
    assert format_table() in text
    assert format_table(TPU_CALLS[1:]) not in text


def test_no_target_has_two_meanings() -> None:
    assert sum(len(row.expansions) for row in TPU_CALLS) == len(TPU_EXPANSIONS)


def test_padding_that_is_cropped_is_zero(worker: Worker) -> None:
    text = """HloModule m, is_scheduled=true
ENTRY e {
  p = pred[5]{0:T(512)(128)(4,1)} parameter(0)
  c = pred[512]{0:T(512)(128)(4,1)} custom-call(p), custom_call_target="ZeroCrop"
  ROOT w = u32[128]{0:T(128)} bitcast(c)
}
"""
    module = parse_module(text)
    make_portable(module)
    p = np.array([True, True, False, True, True])
    (found,) = worker.run(prepare(module, "<test>"), [[p]], options=UNOPTIMIZED)[0]
    # The first 128 elements are the lowest bytes of the words.
    assert found.tolist() == [1, 1, 0, 1, 1] + [0] * 123


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            'c = (f32[8], s32[]) custom-call(d), custom_call_target="PadToStatic"',
            "PadToStatic: only the running program",
        ),
        ('c = f32[<=8] custom-call(p, n), custom_call_target="SliceToDynamic"', r"knows the size of f32\[<=8\]"),
    ],
)
def test_arrays_of_unknown_size_are_errors(call: str, message: str) -> None:
    lines = ["p = f32[8] parameter(0)", "n = s32[] parameter(1)", "d = f32[<=8] parameter(2)", f"ROOT {call}"]
    module = parse_module("HloModule m\n\nENTRY e {\n  " + "\n  ".join(lines) + "\n}\n")
    with pytest.raises(DiagnosticError, match=message) as error:
        expand_custom_calls.run(module)
    assert (
        error.value.diagnostics[0].hint
        == "compile the program for arrays of fixed sizes: every size is then in the dump"
    )
