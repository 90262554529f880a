import numpy as np

from dialect_utils.execution import Worker, prepare
from dialect_utils.hlo import parse_module
from passes.dumps.custom_calls.tpu_calls import TPU_CALLS, TPU_EXPANSIONS, format_table
from passes.dumps.make_portable import make_portable
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
    (found,) = worker.run(prepare(module, "<test>"), [[p]])[0]
    # The first 128 elements are the lowest bytes of the words.
    assert found.tolist() == [1, 1, 0, 1, 1] + [0] * 123
