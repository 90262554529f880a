"""The measurements: each row does its work in turns with the reference, in one process, and returns CPU seconds."""

from __future__ import annotations

import gc
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from benchmarks import inputs
from benchmarks.commands import (
    PARSE_PRINT,
    SHARED,
    SMALL,
    Pair,
    command,
    further_module,
    page,
    rewrite,
    two_jobs,
    whole,
)
from dialect_utils.hlo import parse_module
from dialect_utils.ir import Module
from passes.framework.pipeline import Pipeline

_TPU = "annotate-layouts{target=tpu-v4}"


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table: what ours and the reference's do, the ratio that is wanted, and the measurement."""

    what: str
    reference: str
    goal: float
    measure: Callable[[], Pair]
    is_quick: bool = True


def fastest(work: Callable[[], object], rounds: int = 3) -> float:
    """Returns the CPU seconds of the fastest of several rounds."""
    seconds = []
    for _ in range(rounds):
        gc.collect()
        start = time.process_time()
        work()
        seconds.append(time.process_time() - start)
    return min(seconds)


def in_turns(ours: Callable[[], object], reference: Callable[[], object]) -> Pair:
    """Returns the CPU seconds of the fastest of several rounds of each: short work has more of them."""
    fewest, most, enough = 3, 9, 2.0
    pairs: list[Pair] = []
    while len(pairs) < fewest or (len(pairs) < most and sum(map(sum, pairs)) < enough):
        pairs.append((fastest(ours, 1), fastest(reference, 1)))
    return min(mine for mine, _ in pairs), min(other for _, other in pairs)


def xla(text: str) -> Callable[[], object]:
    """Returns a function that has jaxlib parse and print an HLO text."""
    import jaxlib._hlo as _hlo

    options = _hlo.HloPrintOptions()
    return lambda: _hlo.hlo_module_from_text(text).to_string(options)


def edited(text: str) -> str:
    """Reads a text, gives every hundredth instruction an attribute and prints it."""
    module = parse_module(text)
    for computation in module.computations:
        for item in computation.instructions[:: max(1, min(100, len(computation.instructions)))]:
            if item.number % 100 == 0 and item.opcode != "parameter":
                item.set_frontend_attribute("edited", "1")
    return module.text()


def reading(make: Callable[[], str]) -> Pair:
    """Measures reading, editing and printing."""
    text = make()
    return in_turns(lambda: edited(text), xla(text))


def million(make: Callable[[int], str]) -> Pair:
    """Measures seconds an instruction for a million, and for a hundred thousand."""
    return tuple(fastest(partial(edited, make(count)), 1) / count for count in (10**6, 10**5))  # type: ignore[return-value]


def _peak(code: str) -> float:
    """Returns the most memory that a new interpreter held while it ran some code, in bytes."""
    whole = f"import resource\n{code}\nprint(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    return float(subprocess.run([sys.executable, "-c", whole], check=True, capture_output=True).stdout) * 1024


def peak_memory() -> Pair:
    """Measures the most memory that reading and printing a million instructions take, the text included."""
    text = "from benchmarks.inputs import corpus\ntext = corpus(10**6)\n"
    ours = "from dialect_utils.hlo import parse_module\nparse_module(text).text()"
    theirs = "import jaxlib._hlo as h\nh.hlo_module_from_text(text).to_string(h.HloPrintOptions())"
    return _peak(text + ours), _peak(text + theirs)


def passing(spec: str, make: Callable[[], str], *, before: str = "", against_output: bool = False) -> Pair:
    """Measures a pass and printing; the reference reads and prints the input, or what came out."""
    text = Pipeline.parse(before).run(_read(make())).module.text() if before else make()
    module, step = _read(text), Pipeline.parse(spec).passes[0]
    read = xla(step.run(module).module.text() if against_output else text)
    return in_turns(lambda: step.run(module).module.text(), read)


def _read(text: str) -> Module:
    from dialect_utils.io.files import parse_bytes

    return parse_bytes(text.encode(), "m")


def each_instruction(spec: str, before: str, make: Callable[[], str]) -> Pair:
    """Measures seconds a pass takes for an instruction of its input; the reference is one second."""
    module, step = Pipeline.parse(before).run(_read(make())).module, Pipeline.parse(spec).passes[0]
    count = sum(len(function.operations) for function in module.functions)
    return fastest(lambda: step.run(module).module.text()) / count, 1.0


def imitated() -> Pair:
    """Measures annotate-layouts on StableHLO with 445 results, against reading, verifying and printing it."""
    text = inputs.stablehlo_results(445)
    step = Pipeline.parse(_TPU).passes[0]
    module = _read(text)
    return in_turns(
        lambda: Pipeline((step,)).run(module).module.text(), lambda: Pipeline(()).run(_read(text)).module.text()
    )


_XLA = "jaxlib parses and prints the text"
_WHOLE = "a process that parses and prints it with jaxlib, start-up subtracted"
_EXPANDED = f"{_TPU},expand-tiling"


def _before() -> str:
    return inputs.training_step(optimized=False)


ROWS: Mapping[str, Row] = {
    "read-corpus": Row(
        "read, edit 1 %, print: 100k instructions of dumps",
        _XLA,
        0.40,
        partial(reading, partial(inputs.corpus, 100_000)),
        False,
    ),
    "read-corpus-1k": Row(
        "read, edit 1 %, print: 1k instructions of dumps", _XLA, 0.40, partial(reading, partial(inputs.corpus, 1000))
    ),
    "read-entry": Row(
        "read, edit 1 %, print: 100k instructions of one entry",
        _XLA,
        0.40,
        partial(reading, partial(inputs.entry, 100_000)),
        False,
    ),
    "read-plain": Row(
        "read, edit 1 %, print: 100k plain lines", _XLA, 0.60, partial(reading, partial(inputs.plain, 100_000)), False
    ),
    "read-plain-1k": Row(
        "read, edit 1 %, print: 1k plain lines", _XLA, 0.60, partial(reading, partial(inputs.plain, 1000))
    ),
    "opt": Row(
        "opt FILE: training step of 12 layers",
        "a process that does that with jaxlib",
        1.2,
        lambda: command(["opt", "FILE"], inputs.training_step(), PARSE_PRINT),
    ),
    "verify": Row("verify-layouts: training step", _XLA, 1.2, partial(passing, "verify-layouts", inputs.training_step)),
    "annotate": Row("annotate-layouts: training step before compiling", _XLA, 1.5, partial(passing, _TPU, _before)),
    "annotate-plain": Row(
        "annotate-layouts: 10k plain lines", _XLA, 1.5, partial(passing, _TPU, partial(inputs.plain, 10_000))
    ),
    "expand": Row(
        "expand-tiling: training step before compiling, annotated",
        "jaxlib parses and prints the output",
        2.0,
        partial(passing, "expand-tiling", _before, before=_TPU, against_output=True),
    ),
    "propagate": Row(
        "propagate-layouts: training step before compiling",
        _XLA,
        3,
        partial(passing, "propagate-layouts", _before, before="annotate-layouts{target=tpu-v4 scope=interface}"),
    ),
    "normalize": Row(
        "normalize-layouts: training step before compiling, annotated",
        _XLA,
        2,
        partial(passing, "normalize-layouts", _before, before=_TPU),
    ),
    "expand-bitcasts": Row(
        "expand-bitcasts: training step", _XLA, 2, partial(passing, "expand-bitcasts", inputs.training_step)
    ),
    "form-bitcasts": Row(
        "form-bitcasts: training step", _XLA, 2, partial(passing, "form-bitcasts", inputs.training_step)
    ),
    "fold": Row(
        "fold-tiling on an expanded module, an instruction",
        "1 s",
        60e-6,
        partial(each_instruction, "fold-tiling", _EXPANDED, _before),
        False,
    ),
    "cancel": Row(
        "cancel-relayouts on an expanded module, an instruction",
        "1 s",
        60e-6,
        partial(each_instruction, "cancel-relayouts", _EXPANDED, _before),
        False,
    ),
    "physical": Row(
        "propagate-physical on an expanded module, an instruction",
        "1 s",
        60e-6,
        partial(each_instruction, "propagate-physical", _EXPANDED, _before),
        False,
    ),
    "make-portable": Row(
        "make-portable: training step", _XLA, 4, partial(passing, "make-portable", inputs.training_step)
    ),
    "make-portable-24": Row(
        "make-portable: two training steps in one module, as 24 layers",
        _XLA,
        4,
        partial(passing, "make-portable", inputs.two_steps),
        False,
    ),
    "results": Row("annotate-layouts: StableHLO with 445 results", "opt of it without a pass", 3, imitated),
    "million": Row(
        "a million instructions, time for one", "for one of 100,000", 1.2, partial(million, inputs.corpus), False
    ),
    "memory": Row("a million instructions, most memory", "jaxlib's", 0.7, peak_memory, False),
    "whole-opt": Row(
        "opt FILE, start-up subtracted: 100k instructions of dumps",
        _WHOLE,
        1.2,
        partial(whole, ["opt", "FILE"], partial(inputs.corpus, 100_000)),
        False,
    ),
    "whole-annotate": Row(
        "opt FILE -p annotate-layouts, start-up subtracted: 10k plain lines",
        _WHOLE,
        3,
        partial(whole, ["opt", "FILE", "-p", _TPU], partial(inputs.plain, 10_000)),
        False,
    ),
    "whole-expand": Row(
        "opt FILE -p expand-tiling, start-up subtracted: 10k instructions of dumps",
        _WHOLE,
        12,
        partial(whole, ["opt", "FILE", "-p", "expand-tiling"], partial(inputs.corpus, 10_000)),
        False,
    ),
    "whole-propagate": Row(
        "opt FILE -p propagate-layouts, start-up subtracted: 10k instructions of dumps",
        _WHOLE,
        3,
        partial(whole, ["opt", "FILE", "-p", "propagate-layouts"], partial(inputs.corpus, 10_000)),
        False,
    ),
    "whole-portable": Row(
        "opt FILE -p make-portable, start-up subtracted: training step of 12 layers",
        _WHOLE,
        5,
        partial(whole, ["opt", "FILE", "-p", "make-portable"], inputs.training_step),
        False,
    ),
    "whole-portable-24": Row(
        "opt FILE -p make-portable, start-up subtracted: two training steps in one module, as 24 layers",
        _WHOLE,
        5,
        partial(whole, ["opt", "FILE", "-p", "make-portable"], inputs.two_steps),
        False,
    ),
    "jobs": Row(
        f"check of {SHARED} small modules with two jobs, wall time (on idle cores only)",
        "with one job",
        0.58,
        two_jobs,
        False,
    ),
    "rewrite": Row(
        "check of attention after expand-tiling, CPU of all processes",
        "a process that imports JAX, compiles the original and runs it once",
        1.5,
        partial(rewrite, "attention"),
        False,
    ),
    "rewrite-step": Row(
        "check of a training step after expand-tiling, CPU of all processes",
        "a process that imports JAX, compiles the original and runs it once",
        1.5,
        partial(rewrite, "training_step"),
        False,
    ),
    "page": Row("report FILE -o page.html: training step of 12 layers", "opt FILE", 1.3, page, False),
    "further": Row("check of each further small module of a batch", "import jax", 0.1, further_module, False),
    "check": Row(
        "check of a small module, CPU of all processes",
        "import jax",
        0.8,
        lambda: command(["check", "FILE", "-p", "expand-tiling"], SMALL, "import jax"),
    ),
    "run": Row(
        "run of a small module, CPU of all processes",
        "import jax",
        0.8,
        lambda: command(["run", "FILE"], SMALL.replace(":T(2,2)", ""), "import jax"),
    ),
}
