"""The pass keeps the contract of every pass, on its example and on its lit files."""

from pathlib import Path

from third_party_pass.erase_dead_steps import erase_dead_steps

from relayout.testing import check_pass

PROGRAMS = sorted((Path(__file__).parents[1] / "lit_tests").glob("basic.*"))


def test_the_pass_keeps_the_contract() -> None:
    """Checks all that `relayout.testing` lists."""
    check_pass(erase_dead_steps, PROGRAMS)
