"""Twice the input takes at most twice the work: executed calls are counted, so that no clock decides.

RELAYOUT_SUPERLINEAR=1 (make superlinear) takes 5,000 to 20,000 instructions instead of hundreds, and more commands.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import FrameType

import pytest

from benchmarks import inputs
from dialect_utils.io.files import parse_bytes
from dialect_utils.ir import Module
from dialect_utils.memory import MemoryReport
from dialect_utils.verdict.proof.decide import try_prove
from passes.framework.pipeline import Pipeline, verify
from relayout.cli import main
from tests.profiling import calls_of_child

# Sorting makes one more call for each doubling, which is allowed.
MOST = 1.15
IS_LARGE = os.environ.get("RELAYOUT_SUPERLINEAR") == "1"
LARGE = (5000, 10_000, 20_000)
TPU = "annotate-layouts{target=tpu-v4}"
# Passes, and the passes that give them work on the input.
PASSES = [
    (TPU, ""),
    ("strip-layouts", TPU),
    ("expand-tiling", TPU),
    ("expand-tiling{interface=physical}", TPU),
    ("normalize-layouts", TPU),
    ("propagate-layouts", "annotate-layouts{target=tpu-v4 scope=interface}"),
    ("fold-tiling", f"{TPU},expand-tiling"),
    ("cancel-relayouts", f"{TPU},expand-tiling"),
    ("propagate-physical", f"{TPU},expand-tiling"),
    ("make-portable", TPU),
    ("form-bitcasts", TPU),
    ("expand-bitcasts", TPU),
]

# These run on what expand-tiling made, 20 instructions for one, and search: thousands of calls for each, and a call
# that is counted takes ten times as long.
SLOW = frozenset(("expand-tiling", "fold-tiling", "cancel-relayouts", "propagate-physical"))


def calls(work: Callable[[], object]) -> int:
    """Returns how many functions some work calls, those written in C included."""
    count = 0

    def note(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


def assert_linear(
    work: Callable[[int], Callable[[], object]],
    sizes: tuple[int, ...],
    count: Callable[[Callable[[], object]], int] = calls,
) -> None:
    """Asserts that the work for a size, prepared by `work`, grows no faster than the size."""
    work(min(sizes))()  # imports and cached values are not counted
    counts = [count(work(size)) for size in sizes]
    # Differences, so that work of constant size does not hide the growth.
    first, second = counts[1] - counts[0], counts[2] - counts[1]
    growth = (second / first) / ((sizes[2] - sizes[1]) / (sizes[1] - sizes[0]))
    assert growth <= MOST, f"{counts} calls for {sizes}: {growth:.2f} times linear"


def read(text: str) -> Module:
    return parse_bytes(text.encode(), "m")


def running(spec: str, before: str, text: str) -> Callable[[], object]:
    """Prepares a pass on what other passes make of a text."""
    step = Pipeline.parse(spec).passes[0]
    module = Pipeline.parse(before).run(read(text), verify_each=False).module if before else read(text)
    return lambda: step.run(module).module.text()


def test_a_quadratic_twin_is_found() -> None:
    def quadratic(size: int) -> Callable[[], object]:
        return lambda: [len(range(j)) for i in range(size) for j in range(i)]

    with pytest.raises(AssertionError, match="times linear"):
        assert_linear(quadratic, (50, 100, 200))


@pytest.mark.parametrize(("spec", "before"), PASSES)
def test_passes_are_linear_in_results(spec: str, before: str) -> None:
    sizes = (25, 50, 100) if spec in SLOW and not IS_LARGE else (100, 200, 400)
    assert_linear(lambda size: running(spec, before, inputs.results(size)), sizes)


@pytest.mark.parametrize(("spec", "before"), PASSES)
def test_passes_are_linear_in_instructions(spec: str, before: str) -> None:
    sizes = LARGE if IS_LARGE else (100, 200, 400) if spec in SLOW else (200, 400, 800)
    assert_linear(lambda size: running(spec, before, inputs.plain(size)), sizes)


def zigzag(size: int) -> str:
    """Returns additions whose layouts go forward into one and backward to the other operand of the next."""
    lines = ["  %p.0 = f32[4,6]{0,1} parameter(0)"]
    lines += [f"  %p.{i} = f32[4,6] parameter({i})" for i in range(1, size + 1)]
    lines += [f"  %a.{i} = f32[4,6] add(%p.{i}, %p.{i + 1})" for i in range(size)]
    return (
        "HloModule m\n\nENTRY %main {\n" + "\n".join([*lines, f"  ROOT %r = f32[4,6] negate(%a.{size - 1})"]) + "\n}\n"
    )


def test_layouts_that_go_to_and_fro_are_linear() -> None:
    sizes = LARGE if IS_LARGE else (100, 200, 400)
    assert_linear(lambda size: running("propagate-layouts", "", zigzag(size)), sizes)


@pytest.mark.parametrize(("make", "kind"), [(inputs.plain, "instructions"), (inputs.results, "results")])
def test_the_proof_is_linear(make: Callable[[int], str], kind: str) -> None:
    def work(size: int) -> Callable[[], object]:
        module = Pipeline.parse(TPU).run(read(make(size)), verify_each=False).module
        stages = (module, Pipeline.parse("expand-tiling").run(module, verify_each=False).module)
        return lambda: expect(try_prove(stages).answer == "equal")

    large = LARGE if kind == "instructions" else (100, 200, 400)
    assert_linear(work, large if IS_LARGE else (100, 200, 400) if kind == "instructions" else (25, 50, 100))


# The arguments of each command; FILE is the module.
COMMANDS: Mapping[str, list[str]] = {
    "opt": ["opt", "FILE", "-p", TPU, "-o", "FILE.out"],
    "report": ["report", "FILE", "--json"],
}
LARGE_COMMANDS: Mapping[str, list[str]] = {"check": ["check", "FILE", "-p", TPU], "run": ["run", "FILE"]}


@pytest.mark.parametrize("command", [*COMMANDS, *(LARGE_COMMANDS if IS_LARGE else {})])
def test_commands_are_linear(command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = {**COMMANDS, **LARGE_COMMANDS}[command]

    def work(size: int) -> Callable[[], object]:
        file = tmp_path / f"{size}.hlo"
        file.write_text(inputs.plain(size).replace("HloModule chain", "HloModule chain, is_scheduled=true"))
        given = [argument.replace("FILE", str(file)) for argument in arguments]
        return lambda: expect(main(given) == 0)

    # The child does the work; the calls of this process, which waits, depend on the time that it waits.
    assert_linear(work, LARGE if IS_LARGE else (200, 400, 800), calls_of_child)
    capsys.readouterr()


def expect(holds: bool) -> None:
    """Fails where the measured work had another result."""
    assert holds


# Not the corpus: below 32,000 instructions a larger part of it is another program.
@pytest.mark.parametrize("make", [inputs.plain, inputs.entry])
def test_reading_verifying_and_printing_is_linear(make: Callable[[int], str]) -> None:
    def work(size: int) -> Callable[[], object]:
        text = make(size)

        def run() -> None:
            module = read(text)
            verify(module)
            module.clone().text()

        return run

    assert_linear(work, LARGE if IS_LARGE else (2000, 4000, 8000))


@pytest.mark.parametrize("make", [inputs.results, inputs.stablehlo_results])
def test_reading_and_verifying_is_linear_in_results(make: Callable[[int], str]) -> None:
    def work(size: int) -> Callable[[], object]:
        text = make(size)
        return lambda: verify(read(text))

    assert_linear(work, (100, 200, 400))


def test_stablehlo_is_linear_in_results() -> None:
    assert_linear(lambda size: running(TPU, "", inputs.stablehlo_results(size)), (100, 200, 400))


@pytest.mark.parametrize("make", [inputs.plain, inputs.results])
def test_a_report_is_linear(make: Callable[[int], str]) -> None:
    def work(size: int) -> Callable[[], object]:
        text = make(size).replace("HloModule m", "HloModule m, is_scheduled=true")
        return lambda: MemoryReport(read(text)).as_json()

    assert_linear(work, LARGE if IS_LARGE and make is inputs.plain else (100, 200, 400))
