"""Searches layouts and rewrites for programs of several fields with the TPU compiler: `make campaign-tune`.

`python -m tests.campaign_tune [--budget N] [--inside N] [--jobs N] [--trials FILE] [NAME ...]` needs the `tpu` extra
but no TPU. Each program is tuned for the smallest peak and for the fewest bytes accessed, the latter also with
`--inside` changes inside of the compiler. FILE keeps the figures of all compiled programs, which a later run does not
compile again. Prints a row a program, and writes the table of docs/tuning.md unless the command line names programs.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from math import inf
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import ShapeDtypeStruct as Struct, lax

from dialect_utils.execution.compilers import Figures
from dialect_utils.io.files import parse_bytes
from dialect_utils.text import format_bytes
from relayout.inner import Inner
from relayout.tuning.changes import as_stablehlo
from relayout.tuning.search import Search, Tuning, model_changes
from relayout.tuning.trials import OBJECTIVES, Measured, figure, figure_compiler, read_trials

PAGE = Path(__file__).resolve().parents[1] / "docs" / "tuning.md"
MARKERS = ("<!-- programs: begin -->\n", "<!-- programs: end -->\n")
TARGET = "tpu-v5e"
_BUDGET = 20
# The best figure as a part of the other ones.
GOOD = 0.9

Program = tuple[Callable[..., Any], tuple[Any, ...]]


def f32(*sizes: int) -> Struct:
    return Struct(sizes, jnp.float32)


def s32(*sizes: int) -> Struct:
    return Struct(sizes, jnp.int32)


def bf16(*sizes: int) -> Struct:
    return Struct(sizes, jnp.bfloat16)


def forces(positions: jax.Array, neighbours: jax.Array) -> jax.Array:
    offsets = positions[neighbours] - positions[:, None, :]
    squared = (offsets * offsets).sum(-1, keepdims=True) + 1e-6
    return (offsets / (squared * squared)).sum(1)


def energy(positions: jax.Array, neighbours: jax.Array) -> jax.Array:
    return (forces(positions, neighbours) ** 2).sum()


def mesh_areas(vertices: jax.Array, triangles: jax.Array) -> jax.Array:
    a, b, c = (vertices[triangles[:, i]] for i in range(3))
    return jnp.sqrt((jnp.cross(b - a, c - a) ** 2).sum(-1)) / 2


def scattered(updates: jax.Array, at: jax.Array) -> jax.Array:
    return jnp.zeros((65536, 3)).at[at].add(updates)


def segment_means(values: jax.Array, segments: jax.Array) -> jax.Array:
    total = jax.ops.segment_sum(values, segments, 50000)
    count = jax.ops.segment_sum(jnp.ones(values.shape[0]), segments, 50000)
    return total / jnp.maximum(count, 1)[:, None]


def colours(image: jax.Array, palette: jax.Array) -> jax.Array:
    return palette[image] / 255


def softmax_product(x: jax.Array, w: jax.Array) -> jax.Array:
    return jax.nn.softmax(jnp.transpose(x, (2, 0, 1)).reshape(1000, 2400) @ w)


def attention(q: jax.Array, k: jax.Array, v: jax.Array) -> jax.Array:
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / 8
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), v)


def recurrent(w: jax.Array, x: jax.Array) -> jax.Array:
    def step(state: jax.Array, part: jax.Array) -> tuple[jax.Array, jax.Array]:
        state = jnp.tanh(state @ w + part)
        return state, state

    return lax.scan(step, jnp.zeros((x.shape[0], w.shape[0])), jnp.swapaxes(x, 0, 1))[1]


def convolution(x: jax.Array, k: jax.Array) -> jax.Array:
    return jax.nn.relu(lax.conv_general_dilated(x, k, (1, 1), "SAME", dimension_numbers=("NCHW", "OIHW", "NCHW")))


def convolution_loss(k: jax.Array, x: jax.Array) -> jax.Array:
    return (convolution(x, k) ** 2).mean()


def depthwise(x: jax.Array, k: jax.Array) -> jax.Array:
    numbers = ("NHWC", "HWIO", "NHWC")
    return lax.conv_general_dilated(x, k, (1, 1), "SAME", dimension_numbers=numbers, feature_group_count=x.shape[-1])


def layer_norm(x: jax.Array, scale: jax.Array) -> jax.Array:
    mean, variance = x.mean(1, keepdims=True), x.var(1, keepdims=True)
    return (x - mean) * lax.rsqrt(variance + 1e-6) * scale[:, None, None]


def diffusion(field: jax.Array) -> jax.Array:
    rolled = [jnp.roll(field, shift, axis) for axis in range(3) for shift in (-1, 1)]
    return field + 0.1 * (sum(rolled) - 6 * field)


def complex_waves(parts: jax.Array, phase: jax.Array) -> jax.Array:
    real, imaginary = parts[..., 0], parts[..., 1]
    cosine, sine = jnp.cos(phase), jnp.sin(phase)
    return jnp.stack([real * cosine - imaginary * sine, real * sine + imaginary * cosine], -1)


def rotate(points: jax.Array, matrices: jax.Array) -> jax.Array:
    return jnp.einsum("nij,nkj->nki", matrices, points)


def batched_inverse_product(a: jax.Array, b: jax.Array) -> jax.Array:
    return jnp.einsum("bij,bjk->bik", a, b) + jnp.swapaxes(a, 1, 2)


def bag(table: jax.Array, words: jax.Array) -> jax.Array:
    return table[words].mean(1)


def bag_loss(table: jax.Array, words: jax.Array) -> jax.Array:
    return (bag(table, words) ** 2).sum()


def normalise(rows: jax.Array) -> jax.Array:
    return (rows - rows.mean(0)) / (rows.std(0) + 1e-6)


def ranks(rows: jax.Array) -> jax.Array:
    return jnp.argsort(rows, axis=0)


def cumulative(x: jax.Array) -> jax.Array:
    return jnp.cumsum(x, axis=1).transpose(2, 0, 1)


def mixture(x: jax.Array, gates: jax.Array, w: jax.Array) -> jax.Array:
    return jnp.einsum("tne,tef->tnf", x, w) * gates[..., None]


def distances(x: jax.Array, y: jax.Array) -> jax.Array:
    return jnp.sqrt(((x[:, None, :] - y[None, :, :]) ** 2).sum(-1))


def patches(images: jax.Array, w: jax.Array) -> jax.Array:
    batch, height, width, channels = images.shape
    cut = images.reshape(batch, height // 8, 8, width // 8, 8, channels).transpose(0, 1, 3, 2, 4, 5)
    return cut.reshape(batch, -1, 64 * channels) @ w


def perceptron(x: jax.Array, first: jax.Array, second: jax.Array) -> jax.Array:
    return jnp.einsum("of,bf->bo", second, jax.nn.gelu(jnp.einsum("fi,bi->bf", first, x)))


def orbits(start: jax.Array, steps: jax.Array) -> jax.Array:
    def step(state: jax.Array, length: jax.Array) -> tuple[jax.Array, jax.Array]:
        state = state + length * jnp.cross(state, jnp.roll(state, 1, 0))
        return state, state.sum(0)

    return lax.scan(step, start, steps)[1]


def interpolated(grid: jax.Array, at: jax.Array) -> jax.Array:
    low = jnp.floor(at).astype(jnp.int32)
    part = (at - low)[..., :1]
    return grid[low[:, 0], low[:, 1]] * (1 - part) + grid[low[:, 0] + 1, low[:, 1]] * part


def messages(nodes: jax.Array, edges: jax.Array, weights: jax.Array) -> jax.Array:
    sent = nodes[edges[:, 0]] * weights[:, None]
    return jax.ops.segment_sum(sent, edges[:, 1], nodes.shape[0])


def covariances(x: jax.Array) -> jax.Array:
    centred = x - x.mean(1, keepdims=True)
    return jnp.einsum("bni,bnj->bij", centred, centred)


PROGRAMS: dict[str, Program] = {
    "softmax of a transposed product": (softmax_product, (f32(6, 400, 1000), f32(2400, 64))),
    "areas of triangles": (mesh_areas, (f32(200000, 3), s32(400000, 3))),
    "rotated points": (rotate, (f32(20000, 8, 3), f32(20000, 3, 3))),
    "small products": (batched_inverse_product, (f32(2048, 30, 30), f32(2048, 30, 30))),
    "forces of 32 neighbours": (forces, (f32(65536, 3), s32(65536, 32))),
    "gradient of the energy of forces": (jax.grad(energy), (f32(65536, 3), s32(65536, 32))),
    "scatter of rows of 3": (scattered, (f32(65536, 32, 3), s32(65536, 32))),
    "recurrent network": (recurrent, (f32(300, 300), f32(256, 64, 300))),
    "colours of a palette": (colours, (s32(1024, 1024), f32(4096, 4))),
    "means of segments of pairs": (segment_means, (f32(1000000, 2), s32(1000000))),
    "attention, batch first": (attention, (bf16(4, 512, 8, 64), bf16(4, 512, 8, 64), bf16(4, 512, 8, 64))),
    "depthwise convolution": (depthwise, (f32(8, 64, 64, 48), f32(3, 3, 1, 48))),
    "convolution of planes": (convolution, (f32(8, 3, 128, 128), f32(16, 3, 3, 3))),
    "gradient of a convolution": (jax.grad(convolution_loss), (f32(16, 3, 3, 3), f32(8, 3, 128, 128))),
    "normalisation over channels": (layer_norm, (f32(16, 48, 50, 60), f32(48))),
    "diffusion in a box": (diffusion, (f32(100, 120, 90),)),
    "rotated phases of pairs": (complex_waves, (f32(500, 600, 2), f32(500, 600))),
    "columns of a table, scaled": (normalise, (f32(1000000, 6),)),
    "ranks of columns": (ranks, (f32(4096, 12),)),
    "sums along a transposed axis": (cumulative, (f32(30, 200, 500),)),
    "experts": (mixture, (bf16(16, 200, 96), bf16(16, 200), bf16(16, 96, 160))),
    "distances of points": (distances, (f32(2048, 3), f32(2048, 3))),
    "patches of images": (patches, (f32(8, 224, 224, 3), f32(192, 128))),
    "perceptron": (perceptron, (bf16(200, 300), bf16(1200, 300), bf16(300, 1200))),
    "orbits": (orbits, (f32(20000, 3), f32(10))),
    "interpolation in a grid": (interpolated, (f32(300, 300, 4), f32(500000, 2))),
    "messages on a graph": (messages, (f32(50000, 4), s32(800000, 2), f32(800000))),
    "covariances": (covariances, (f32(200, 300, 20),)),
    "bag of words": (bag, (f32(50000, 6), s32(20000, 40))),
    "gradient of a bag of words": (jax.grad(bag_loss), (f32(50000, 6), s32(20000, 40))),
}


class Result(NamedTuple):
    """A search, and the figure of the change that the model alone finds best as a part of that of `ratio`."""

    tuning: Tuning
    modelled: float


def tuned(name: str, measured: Measured, budget: int, inside: int = 0) -> Iterator[Result]:
    """Yields the search of a program for the smallest peak and for the fewest bytes accessed."""
    function, arguments = PROGRAMS[name]
    # This text has no lines of source files, so that the figures of an earlier run are found.
    text = jax.jit(function).lower(*arguments).as_text()
    module = as_stablehlo(parse_bytes(text.encode(), name))
    for objective in OBJECTIVES[:2]:
        search = Search(module, measured, objective, budget, inside * (objective == "bytes"))
        search.enter = partial(Inner, target=TARGET, objective=objective)
        tuning = search.run()
        [alone] = measured.figures([model_changes(module, TARGET, objective, budget).program.text()])
        yield Result(tuning, inf if alone.error else figure(alone, objective) / before(tuning))


def row(name: str, peak: Tuning, accessed: Tuning) -> list[str]:
    """Returns the cells of a program: peaks and bytes of the program, of AUTO and of the best, and the change."""
    changes = [each.best.change.described(each.start.change) for each in (peak, accessed)]
    figures = [_pair(each.figures) for each in (peak.trials[0], peak.trials[1], peak.best, accessed.best)]
    told = dict.fromkeys(each for each in changes if each != "as it is")
    return [name, *figures, "; ".join(told) or "none", _correlations(peak, accessed)]


def _correlations(*tunings: Tuning) -> str:
    return ", ".join("-" if each.correlation is None else f"{each.correlation:.2f}" for each in tunings)


def _pair(figures: Figures) -> str:
    if figures.error:
        return "rejected"
    return f"{format_bytes(figures.peak)}, {format_bytes(figures.accessed)}"


def before(tuning: Tuning) -> float:
    """Returns the smaller figure of the program as it is and with AUTO."""
    return min(figure(each.figures, tuning.objective) for each in tuning.trials[:2] if not each.figures.error)


def ratio(tuning: Tuning) -> float:
    """Returns the best figure as a part of the smaller one of the program as it is and with AUTO."""
    return figure(tuning.best.figures, tuning.objective) / before(tuning)


def summary(rows: dict[str, tuple[Result, Result]]) -> str:
    """Returns sentences about all programs."""
    ratios = [[ratio(each.tuning) for each in pair] for pair in rows.values()]
    alone = sum(min(each.modelled for each in pair) <= GOOD for pair in rows.values())
    good, worse = sum(min(pair) <= GOOD for pair in ratios), sum(max(pair) > 1 for pair in ratios)
    peaks, accessed = (_median(pair[number].tuning.correlation for pair in rows.values()) for number in range(2))
    return (
        f"Of {len(rows)} programs {good} have a peak or bytes accessed that are at least 10 % smaller than those of "
        f"the default and of AUTO, and {worse} are worse than one of them in what they were tuned for. The change that "
        f"the model alone finds best, compiled once for each objective, does the same for {alone}. The median rank "
        f"correlation of the model is {peaks} with the peak and {accessed} with the bytes accessed."
    )


def _median(correlations: Iterable[float | None]) -> str:
    found = [each for each in correlations if each is not None]
    return f"{median(found):.2f}" if found else "unknown"


def main() -> int:
    """Tunes programs and prints a row for each; writes the table of the documentation after each of them."""
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*")
    parser.add_argument("--budget", type=int, default=_BUDGET)
    parser.add_argument("--inside", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--trials", type=Path)
    arguments = parser.parse_args()
    header = ("program", "default", "AUTO", "smallest peak", "fewest bytes", "changes", "model")
    lines = [_line(header), _line(["---"] * len(header))]
    rows: dict[str, tuple[Result, Result]] = {}
    with figure_compiler(TARGET, "peak", arguments.jobs) as compiler:
        measured = Measured(compiler.compile_all, TARGET, compiler.version)
        if arguments.trials is not None:
            measured.keep = partial(_keep, arguments.trials)
            measured.known = dict(_kept(arguments.trials))
        for name in arguments.names or PROGRAMS:
            peak, accessed = tuned(name, measured, arguments.budget, arguments.inside)
            rows[name] = (peak, accessed)
            lines.append(_line(row(name, peak.tuning, accessed.tuning)))
            print(lines[-1], flush=True)
            if not arguments.names:
                _write("\n".join([*lines, "", summary(rows), ""]))
    print(summary(rows))
    return 0


def _keep(file: Path, text: str) -> None:
    """Writes the figures whole or not at all: the run may be ended at any time."""
    new = file.with_suffix(".new")
    new.write_text(text, "utf-8")
    new.rename(file)


def _kept(file: Path) -> Mapping[str, Figures]:
    return read_trials(file.read_text("utf-8"), str(file)) if file.exists() else {}


def _line(cells: Any) -> str:
    return f"| {' | '.join(cells)} |"


def _write(text: str) -> None:
    page = PAGE.read_text("utf-8")
    before, _, rest = page.partition(MARKERS[0])
    PAGE.write_text(f"{before}{MARKERS[0]}{text}{MARKERS[1]}{rest.partition(MARKERS[1])[2]}", "utf-8")


if __name__ == "__main__":
    sys.exit(main())
