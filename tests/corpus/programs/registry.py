"""Programs of the corpus and their inputs."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import PartitionSpec
from numpy.typing import DTypeLike, NDArray

from dialect_utils.layout.targets.known import parse_target
from dialect_utils.layout.targets.target import Target

GRID = 64  # floats are multiples of 1/64: exact in most types, and small once compressed


@dataclass(frozen=True, slots=True)
class Argument:
    """One input: logical dimensions, element type, how it is filled, and over which mesh axes it is sharded."""

    dims: tuple[int, ...]
    dtype: DTypeLike
    fill: str
    sharding: PartitionSpec | None

    def draw(self, rng: np.random.Generator) -> NDArray[Any]:
        """Draws the array: `normal`, `small` (a quarter of that), `coarse` (halves up to 2), `positive`,
        `dominant` (a strong diagonal), `below:N` (integers in [0, N)), `parts:N` (integers that add up to N) or
        `bits` (any bits of an integer type).
        """
        if self.fill.startswith("parts:"):
            count = self.dims[0]
            return rng.multinomial(int(self.fill[len("parts:") :]), [1 / count] * count).astype(self.dtype)
        if self.fill.startswith("below:"):
            return rng.integers(0, int(self.fill[len("below:") :]), self.dims).astype(self.dtype)
        if self.fill == "bits":
            limits = jnp.iinfo(self.dtype)
            wide = np.int64 if limits.min < 0 else np.uint64
            return rng.integers(int(limits.min), int(limits.max), self.dims, wide, endpoint=True).astype(self.dtype)
        return self._draw_float(rng).astype(self.dtype)

    def _draw_float(self, rng: np.random.Generator) -> NDArray[Any]:
        values = np.round(rng.standard_normal(self.dims) * GRID) / GRID
        if np.issubdtype(np.dtype(self.dtype), np.complexfloating):
            return values + 1j * np.round(rng.standard_normal(self.dims) * GRID) / GRID
        if self.fill == "dominant":
            return values + 2 * self.dims[-1] * np.eye(self.dims[-1])
        coarse = np.clip(np.round(values * 2) / 2, -2, 2)
        return {"coarse": coarse, "small": values / 4, "positive": np.abs(values) + 0.25}.get(self.fill, values)


@dataclass(frozen=True, slots=True)
class Program:
    """A JAX function with its arguments; a sharded one takes the mesh as its first argument.

    `mesh` names the axes and their sizes, in the order of the partitions. `donated` are the arguments whose memory
    the outputs may take. `elided` asks for a second dump without the contents of large constants. `precise` multiplies
    matrices of f32 in full precision, `on_host` are the arguments that live in the host's memory, `reference` computes
    the outputs on a CPU where the function itself cannot, and `refused` is what the refusal of the dump says.
    """

    name: str
    function: Callable[..., Any]
    arguments: tuple[Argument, ...]
    platform: str
    x64: bool = False
    donated: tuple[int, ...] = ()
    elided: bool = False
    mesh: tuple[tuple[str, int], ...] = ()
    precise: bool = False
    on_host: tuple[int, ...] = ()
    reference: Callable[..., Any] | None = None
    refused: str = ""

    @property
    def device_count(self) -> int:
        """Returns the number of devices that the program is partitioned over."""
        return prod(size for _, size in self.mesh)

    @property
    def target(self) -> Target:
        """Returns the target that the platform names."""
        return parse_target(self.platform if self.platform.startswith("tpu") else f"tpu-{self.platform}")

    @property
    def topology(self) -> str:
        """Returns libtpu's name of a topology with as many devices."""
        return self.target.topology(self.device_count)["topology_name"]

    def draw_inputs(self) -> list[NDArray[Any]]:
        """Draws the inputs, the same in every process."""
        rng = np.random.default_rng(zlib.crc32(self.name.encode()))
        return [argument.draw(rng) for argument in self.arguments]


PROGRAMS: dict[str, Program] = {}


def arg(*dims: int, dtype: DTypeLike = jnp.float32, fill: str = "normal", sharding: Any = None) -> Argument:
    """Describes one input; `sharding` is a tuple of mesh axes, one for each dimension."""
    return Argument(dims, dtype, fill, None if sharding is None else PartitionSpec(*sharding))


def program(
    *arguments: Argument,
    on: str = "v5e",
    x64: bool = False,
    donated: tuple[int, ...] = (),
    elided: bool = False,
    mesh: tuple[tuple[str, int], ...] = (),
    precise: bool = False,
    on_host: tuple[int, ...] = (),
    reference: Callable[..., Any] | None = None,
    refused: str = "",
    table: dict[str, Program] = PROGRAMS,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Registers the decorated function under its own name: in `PROGRAMS`, whose dumps are kept, or another table."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        name = function.__name__
        if name in table:
            raise ValueError(f"two programs are called {name}")
        more = (precise, on_host, reference, refused)
        table[name] = Program(name, function, arguments, on, x64, donated, elided, mesh, *more)
        return function

    return register


A = jax.Array
