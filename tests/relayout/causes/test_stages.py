"""The pass between two modules of a compilation, from the names of their files alone."""

from __future__ import annotations

import pytest

from dialect_utils.io.inputs import Input
from relayout.reporting.pass_names import PassName, pass_between

BEGIN, END = "before_optimizations", "after_optimizations"
LAST_STEP = "after_optimizations_before_buffer_assignment"


def named(stages: list[str], before: int | None, after: int) -> PassName:
    modules = [Input(f"module_0000.jit_f.{stage}.txt", f"module_0000.jit_f.{stage}.txt") for stage in stages]
    return pass_between(modules, before, after)


@pytest.mark.parametrize(
    ("stages", "pair", "expected"),
    [
        # The module names the pass that changed it last.
        ([BEGIN, "0001.fusion.after_dce.before_cse"], (0, 1), "dce of fusion"),
        (["0001.fusion.after_dce.before_cse", "0002.fusion.after_cse.before_pipeline-end"], (0, 1), "cse of fusion"),
        # The module after a pipeline's begin was changed by a pass between pipelines.
        (
            ["0001.fusion.after_dce.before_cse", "0002.layouts.after_pipeline-start.before_assign"],
            (0, 1),
            "cse of fusion, or a later pass (between fusion.after_dce.before_cse and "
            "layouts.after_pipeline-start.before_assign)",
        ),
        # The last module of a pipeline names no next pass.
        (
            ["0001.fusion.after_dce.before_pipeline-end", END],
            (0, 1),
            "dce of fusion, or a later pass (between fusion.after_dce.before_pipeline-end and after_optimizations)",
        ),
        (
            [BEGIN, END],
            (0, 1),
            "before_optimizations, or a later pass (between before_optimizations and after_optimizations)",
        ),
        (
            [LAST_STEP, END],
            (0, 1),
            "buffer_assignment (between after_optimizations_before_buffer_assignment and after_optimizations)",
        ),
    ],
)
def test_the_pass_is_the_one_that_the_names_of_the_files_state(
    stages: list[str], pair: tuple[int, int], expected: str
) -> None:
    assert str(named(stages, *pair)) == expected


AROUND = [
    "0001.layouts.after_pipeline-start.before_assign",
    "0002.rewriter.after_propagation",
    "0003.rewriter.after_insertion",
    "0004.layouts.after_assign.before_pipeline-end",
]


def test_a_module_that_a_pass_writes_while_it_runs_belongs_to_the_pass_around_it() -> None:
    found = named(AROUND, 1, 2)
    assert (found.name, found.pipeline, found.part, found.is_or_later) == (
        "assign",
        "layouts",
        "rewriter: insertion",
        False,
    )
    assert (found.before, found.after) == tuple(f"module_0000.jit_f.{stage}.txt" for stage in AROUND[1:3])


def test_a_pass_that_the_modules_around_do_not_both_name_is_not_named() -> None:
    other = [*AROUND[:3], "0004.layouts.after_other.before_pipeline-end"]
    found = named(other, 1, 2)
    assert (found.name, found.pipeline, found.part, found.is_or_later) == (
        "assign",
        "layouts",
        "rewriter: insertion",
        True,
    )


def test_a_pass_may_write_modules_under_its_own_name() -> None:
    stages = ["0001.assign.after_propagation", "0002.layouts.after_assign.before_pipeline-end"]
    assert str(named([BEGIN, *stages], 0, 1)) == "assign of layouts (assign: propagation)"


def test_parts_without_a_module_around_them_have_the_name_of_their_pipeline() -> None:
    assert str(named(["0001.rewriter.after_propagation"], 0, 0)) == "rewriter (propagation)"


def test_an_instruction_of_the_input_has_no_pass() -> None:
    found = named([BEGIN, END], None, 0)
    assert (str(found), found.before, found.after) == (
        "the compiler's input",
        "",
        "module_0000.jit_f.before_optimizations.txt",
    )
