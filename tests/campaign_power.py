"""Measures what `agrees` is worth: real mistakes in JAX programs against the power that a check prints.

`python -m tests.campaign_power [MISTAKES]` (200). A mistake is another constant (the next integer, ten times, a tenth,
infinity or mask of another size), another comparison, or exchanged branches, at one place of the StableHLO that JAX
writes. Programs that are proved equal to the original are no mistakes. Prints the mistakes that are not found, and for
each program the share that is found beside the interval; returns 1 if the share of all is below the mean interval.
"""

from __future__ import annotations

import random
import re
import sys
from collections.abc import Callable, Iterator
from statistics import mean
from typing import Any

import jax
import jax.numpy as jnp

from dialect_utils.execution import Worker
from dialect_utils.io.files import parse_bytes
from dialect_utils.text import DiagnosticError
from dialect_utils.verdict import Options, compare_modules

_CONSTANT = re.compile(r"dense<(-?[\d.]+(?:e[+-]?\d+)?)> : tensor<(?:\d+x)*([fi]\d+)>")
_TURNED = {"LT": "LE", "LE": "LT", "GT": "GE", "GE": "GT", "EQ": "NE", "NE": "EQ"}
_COMPARED = re.compile(r"stablehlo\.compare +(\w\w),")
_SELECTED = re.compile(r"(stablehlo\.select %\S+, )(%\S+), (%\S+)( :)")


def attention(q: Any, k: Any, v: Any) -> Any:
    scores = jnp.where(jnp.tril(jnp.ones((8, 8), bool)), q @ k.T / 4.0, -1e9)
    return jax.nn.softmax(scores) @ v


def layer_norm(x: Any, scale: Any) -> Any:
    centered = x - x.mean(-1, keepdims=True)
    return scale * centered / jnp.sqrt((centered**2).mean(-1, keepdims=True) + 1e-5)


def routed(x: Any, expert: Any) -> Any:
    one_hot = jax.nn.one_hot(expert, 4, dtype=jnp.int32)
    place = (jnp.cumsum(one_hot, 0) * one_hot).sum(-1)
    return jnp.where(place <= 6, x, 0.0)


def repeated(x: Any, n: Any) -> Any:
    return jax.lax.fori_loop(0, jnp.minimum(n, 512), lambda _, y: 3 * y + 1, x)


def scanned(x: Any) -> Any:
    return jax.lax.scan(lambda total, y: (jnp.clip(total + y, -8.0, 8.0), total), 0.0, x)


def huber(x: Any, y: Any) -> Any:
    distance = jnp.abs(x - y)
    return jnp.where(distance < 1.5, 0.5 * distance**2, 1.5 * (distance - 0.75)).sum()


def clipped_norm(x: Any) -> Any:
    return x * jnp.minimum(1.0, 5.0 / (jnp.sqrt((x * x).sum()) + 1e-6))


def embedded(table: Any, tokens: Any) -> Any:
    return jnp.where((tokens == 3)[:, None], 0.0, table[tokens])


def collatz(n: Any) -> Any:
    def step(state: Any) -> Any:
        return jnp.where(state[0] % 2 == 0, state[0] // 2, 3 * state[0] + 1), state[1] + 1

    return jax.lax.while_loop(lambda state: (state[0] > 1) & (state[1] < 100), step, (n, 0))[1]


def quantized(x: Any) -> Any:
    return jnp.clip(jnp.round(x * 16.0), -128, 127).astype(jnp.int8)


def hashed(x: Any) -> Any:
    return ((x * 31 + 7) >> 3) & 1023


def gelu(x: Any) -> Any:
    return 0.5 * x * (1 + jnp.tanh(0.79788456 * (x + 0.044715 * x**3)))


FLOAT, WHOLE = jnp.float32, jnp.int32
PROGRAMS: dict[Callable[..., Any], tuple[tuple[tuple[int, ...], Any], ...]] = {
    attention: (((8, 16), FLOAT),) * 3,
    layer_norm: (((4, 32), FLOAT), ((32,), FLOAT)),
    routed: (((16,), FLOAT), ((16,), WHOLE)),
    repeated: (((8,), WHOLE), ((), WHOLE)),
    scanned: (((24,), FLOAT),),
    huber: (((16,), FLOAT), ((16,), FLOAT)),
    clipped_norm: (((32,), FLOAT),),
    embedded: (((10, 4), FLOAT), ((6,), WHOLE)),
    collatz: (((), WHOLE),),
    quantized: (((64,), FLOAT),),
    hashed: (((16,), WHOLE),),
    gelu: (((64,), FLOAT),),
}


def mistakes(text: str) -> Iterator[tuple[str, str]]:
    """Yields each mistake and the text that has it."""
    for found in _CONSTANT.finditer(text):
        for changed in _other_numbers(found[1], found[2]):
            start, end = found.span(1)
            yield f"{found[1]} becomes {changed}", text[:start] + changed + text[end:]
    for found in _COMPARED.finditer(text):
        start, end = found.span(1)
        yield f"{found[1]} becomes {_TURNED[found[1]]}", text[:start] + _TURNED[found[1]] + text[end:]
    for found in _SELECTED.finditer(text):
        whole = f"{found[1]}{found[3]}, {found[2]}{found[4]}"
        yield f"{found[0]} is exchanged", text[: found.start()] + whole + text[found.end() :]


def _other_numbers(written: str, kind: str) -> Iterator[str]:
    number = float(written)
    if kind.startswith("i"):
        yield from (str(int(each)) for each in {number + 1, number - 1, number * 10} - {number} if abs(each) < 2**31)
    elif number:
        yield from (f"{each:.6e}" for each in (number * 10, number / 10, -number))
    else:
        yield "1.000000e-03"


def main() -> int:
    """Prints the mistakes that are not found, and the shares."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    seen: list[bool] = []
    intervals: list[tuple[float, float]] = []
    with Worker() as worker:
        for program, inputs in PROGRAMS.items():
            text = jax.jit(program).lower(*(jax.ShapeDtypeStruct(*each) for each in inputs)).as_text()
            all_mistakes = list(mistakes(text))
            random.Random(0).shuffle(all_mistakes)
            original = parse_bytes(text.encode(), "original.mlir")
            power = compare_modules(original, original, Options(("xla",)), worker).power
            found = []
            for name, wrong in all_mistakes[: count // len(PROGRAMS) + 1]:
                try:
                    answer = compare_modules(
                        original, parse_bytes(wrong.encode(), "wrong.mlir"), Options(power=0, timeout=20), worker
                    ).verdict
                except DiagnosticError as error:
                    print(f"{program.__name__}: {name}: not compared, {error.diagnostics[0].message[:60]}")
                    continue
                if answer != "equal":
                    found.append(answer in ("different", "unknown"))
                if answer in ("agrees", "close"):
                    print(f"{program.__name__}: {name}: {answer}", flush=True)
            seen += found
            intervals += [power.interval] if power else []
            print(f"{program.__name__}: {sum(found)} of {len(found)} found; {power}", flush=True)
    low, high = mean(each[0] for each in intervals), mean(each[1] for each in intervals)
    share = sum(seen) / len(seen)
    print(f"{sum(seen)} of {len(seen)} found, {share:.0%}; mean interval {low:.0%} to {high:.0%}")
    return int(share < low)


if __name__ == "__main__":
    sys.exit(main())
