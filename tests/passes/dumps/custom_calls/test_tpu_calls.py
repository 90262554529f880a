from passes.dumps.custom_calls.tpu_calls import TPU_CALLS, TPU_EXPANSIONS, format_table
from tests.paths import ROOT


def test_the_documentation_lists_what_is_expanded() -> None:
    text = (ROOT / "docs" / "dumps.md").read_text("utf-8")
    assert format_table() in text
    assert format_table(TPU_CALLS[1:]) not in text


def test_no_target_has_two_meanings() -> None:
    assert sum(len(row.expansions) for row in TPU_CALLS) == len(TPU_EXPANSIONS)
