from __future__ import annotations

import pytest

from dialect_utils.io.dump_names import DumpName, parse_dump_name

STEP = "0012.fusion.after_x.before_y"


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("module_0003.jit_f.before_optimizations.txt", DumpName("jit_f", 3, "before_optimizations")),
        (f"module_0003.jit_f.{STEP}.hlo.pb.gz", DumpName("jit_f", 3, STEP)),
        (f"module_0003.fusion.1644.{STEP}.txt", DumpName("fusion.1644", 3, STEP)),
        ("module_0003.fusion.1644.cpu_after_optimizations.txt", DumpName("fusion.1644", 3, "cpu_after_optimizations")),
        ("module_0003.fusion.1644.before_optimizations.txt", DumpName("fusion.1644", 3, "before_optimizations")),
        ("module_0003.jit_f.1.cpu_after_optimizations.hlo.pb", DumpName("jit_f.1", 3, "cpu_after_optimizations")),
        (
            "1700000000000000.module_0120.main.sm_8.0_gpu_after_optimizations.txt",
            DumpName("main", 120, "sm_8.0_gpu_after_optimizations"),
        ),
        (
            "module_0001.jit_f.sm_9.0a_gpu_after_optimizations.txt",
            DumpName("jit_f", 1, "sm_9.0a_gpu_after_optimizations"),
        ),
        (
            "module_0003.jit_f.cl_1.0029.after_hoisting.after_pipeline-start.before_dce.txt",
            DumpName("jit_f.cl_1", 3, "0029.after_hoisting.after_pipeline-start.before_dce"),
        ),
        ("module_0003.jit_f.snapshot.-5.pb", DumpName("jit_f", 3, "snapshot.-5")),
        ("module_0003.jit_f.codegen.txt", DumpName("jit_f", 3, "codegen")),
        ("module_0003.jit_f/module.mlir", DumpName("jit_f", 3, "stablehlo")),
        ("shardy/module_0003.jit_f/01.lift.mlir", DumpName("jit_f", 3, "stablehlo.01.lift")),
        (
            "module_0003.jit_f.cl_17.oom_intermediate_module.txt",
            DumpName("jit_f.cl_17", 3, "oom_intermediate_module"),
        ),
        ("tpu/step_10.hlo", DumpName("step_10")),
        (".txt", DumpName(".txt")),
    ],
)
def test_a_name_states_module_number_and_stage(path: str, expected: DumpName) -> None:
    assert parse_dump_name(path) == expected


@pytest.mark.parametrize(
    ("wanted", "fits"),
    [
        ("cpu_after_optimizations", True),
        ("after_optimizations", True),
        ("*after_optimizations", True),
        ("optimizations", False),
        ("before_optimizations", False),
    ],
)
def test_stages_are_named_with_or_without_their_platform(wanted: str, fits: bool) -> None:
    assert parse_dump_name("module_0003.jit_f.cpu_after_optimizations.txt").is_stage(wanted) is fits
    assert parse_dump_name("module_0003.jit_f.sm_8.0_gpu_after_optimizations.txt").is_stage(wanted) is (
        fits and not wanted.startswith("cpu")
    )


@pytest.mark.parametrize(
    ("wanted", "fits"), [("fusion", True), ("after_x", True), ("0012", True), (STEP, True), ("after", False)]
)
def test_a_pass_is_named_by_a_part(wanted: str, fits: bool) -> None:
    assert parse_dump_name(f"module_0003.jit_f.{STEP}.txt").is_stage(wanted) is fits


@pytest.mark.parametrize(
    ("wanted", "fits"),
    [("jit_f", True), ("module_0003", True), ("module_0003.jit_f", True), ("jit_*", True), ("jit", False)],
)
def test_modules_are_named_by_name_or_number(wanted: str, fits: bool) -> None:
    assert parse_dump_name("module_0003.jit_f.before_optimizations.txt").is_module(wanted) is fits


@pytest.mark.parametrize(
    ("wanted", "fits"), [("jit_conv", True), ("conv", False), ("module_0003.jit_conv", True), ("jit_con", False)]
)
def test_a_name_may_end_before_a_dot(wanted: str, fits: bool) -> None:
    assert parse_dump_name("module_0003.jit_conv.cl_17.before_optimizations.txt").is_module(wanted) is fits


@pytest.mark.parametrize(("wanted", "fits"), [("conv", True), ("cl_17", True), ("con", False), ("jit_conv", True)])
def test_words_of_a_name_end_at_dots_and_underscores(wanted: str, fits: bool) -> None:
    assert parse_dump_name("module_0003.jit_conv.cl_17.before_optimizations.txt").has_word(wanted) is fits


def test_the_final_stages_are_in_the_order_of_compilation_and_one_describes_the_program() -> None:
    first = "after_optimizations_before_buffer_assignment"
    stages = ["before_optimizations", "0001.x", first, "after_optimizations", "after_codegen"]
    found = [parse_dump_name(f"module_0003.jit_f.{name}.txt") for name in reversed(stages)]
    assert [name.stage for name in sorted(found, key=lambda each: each.order)] == stages
    assert max(found, key=lambda each: each.finality).stage == "after_optimizations"
    no_memory = parse_dump_name("module_0003.jit_f.oom_intermediate_module.txt")
    assert max([*found, no_memory], key=lambda each: each.finality) == no_memory
    assert [name.is_final for name in sorted(found, key=lambda each: each.order)] == [False] * 2 + [True] * 3


def test_a_stage_without_a_number_of_four_digits_comes_last() -> None:
    names = ("before_optimizations", "0001.fusion", "0120.layout", "123.dot", "codegen")
    found = [parse_dump_name(f"module_0003.jit_f.{name}.txt") for name in reversed(names)]
    assert [name.stage for name in sorted(found, key=lambda each: each.order)] == list(names)


@pytest.mark.parametrize("chip", ["sm_8.0_gpu_", "sm_9.0a_gpu_", "sm_10.0_gpu_", "cpu_", ""])
def test_the_last_module_is_that_of_any_platform(chip: str) -> None:
    found = parse_dump_name(f"module_0003.jit_f.{chip}after_optimizations.txt")
    assert (found.short_stage, found.is_final) == ("after_optimizations", True)
    # Texts about the buffers of a module are no modules.
    other = parse_dump_name(f"module_0003.jit_f.{chip}after_optimizations-buffer-assignment.txt")
    assert other.place_in_compilation is None
