"""The table of the programs for several devices."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import Any, Literal

import jax
import numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
from numpy.typing import NDArray

from tests.corpus.programs.registry import Argument

A = jax.Array
# Writes a constraint of a value's placement; for one device it returns the value.
Put = Callable[..., A]
# The source of the program for several devices: the text that JAX lowers, the optimized module of a compiler, the
# module after the partitioner of a compiler, or the StableHLO that Shardy's own passes make.
Form = Literal[
    "sdy", "full-to-shard", "cpu-gspmd", "cpu-shardy", "gpu-gspmd", "gpu-shardy", "tpu-gspmd", "tpu-shardy",
    "partitioned-cpu-gspmd", "partitioned-cpu-shardy", "partitioned-gpu-gspmd", "partitioned-gpu-shardy",
    "partitioned-tpu-shardy", "shardy-parts",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Sharded:
    """A program for several devices: `single` for one device, and the same with constraints or by shard_map.

    `constrained` takes a function that places a value, and then the arguments; `local` takes each device's parts, and
    `results` are the placements of what it returns. `automatic` names mesh axes that stay to the partitioner. With
    neither of both the text for one device is annotated with the placements, which may be uneven.
    """

    name: str
    kind: str
    mesh: tuple[tuple[str, int], ...]
    arguments: tuple[Argument, ...]
    forms: tuple[Form, ...]
    constrained: Callable[..., Any] | None = None
    local: Callable[..., Any] | None = None
    single: Callable[..., Any] | None = None
    results: Any = None
    automatic: tuple[str, ...] = ()

    @property
    def is_annotated(self) -> bool:
        """Returns whether the shardings stand in the text alone."""
        return self.constrained is None and self.local is None

    @property
    def devices(self) -> int:
        """Returns the number of devices."""
        return prod(size for _, size in self.mesh)

    def for_one_device(self) -> Callable[..., Any]:
        """Returns the function without any placement."""
        if self.single is not None:
            return self.single
        constrained = self.constrained
        if constrained is None:
            raise ValueError(f"{self.name} has no function for one device")
        return lambda *args: constrained(lambda value, *_: value, *args)

    def for_mesh(self, mesh: Mesh) -> Callable[..., Any]:
        """Returns the function for several devices, which takes and returns whole arrays."""
        if self.local is not None:
            specs = tuple(argument.sharding or P() for argument in self.arguments)
            manual = frozenset(mesh.axis_names) - frozenset(self.automatic)
            return jax.shard_map(
                self.local, mesh=mesh, in_specs=specs, out_specs=self.results, check_vma=False, axis_names=manual
            )
        constrained = self.constrained
        if constrained is None:
            raise ValueError(f"{self.name} has no function for several devices")

        def put(value: A, *axes: Any) -> Any:
            return lax.with_sharding_constraint(value, NamedSharding(mesh, P(*axes)))

        return lambda *args: constrained(put, *args)

    def draw_inputs(self) -> list[NDArray[Any]]:
        """Draws the inputs, the same in every process."""
        rng = np.random.default_rng(zlib.crc32(self.name.encode()))
        return [argument.draw(rng) for argument in self.arguments]


SHARDED: dict[str, Sharded] = {}
_AUTOMATIC: tuple[Form, ...] = ("cpu-gspmd", "partitioned-cpu-shardy")
_TEXT: tuple[Form, ...] = ("cpu-gspmd", "partitioned-cpu-gspmd")
_MANUAL: tuple[Form, ...] = ("sdy", "cpu-shardy")


# Shardy's passes in jaxlib 0.10 end with an error or a crash; of the last four they make programs that differ.
_NOT_IN_PARTS = (
    "batch_of_two_layers", "gradient_of_columns_then_rows", "gradient_of_gathered_weights",
    "gradient_of_layers_in_a_loop", "layers_in_a_loop", "loss_of_a_split_vocabulary", "norm_of_a_split_sequence",
    "reductions_of_split_rows", "rolled_and_reversed_rows", "rows_of_a_split_table", "slices_and_joins",
    "placements_of_a_grid", "softmax_of_split_rows", "uneven_rows", "uneven_softmax",
)  # fmt: skip


def constrained(
    kind: str, mesh: tuple[tuple[str, int], ...], *arguments: Argument, forms: tuple[Form, ...] = _AUTOMATIC,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:  # fmt: skip
    """Registers a program whose values carry constraints."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        parts: tuple[Form, ...] = () if function.__name__ in _NOT_IN_PARTS else ("shardy-parts",)
        _add(
            Sharded(
                function.__name__, kind, mesh, arguments, (*forms, *parts), constrained=function,
            )
        )  # fmt: skip
        return function

    return register


def by_hand(
    kind: str, mesh: tuple[tuple[str, int], ...], *arguments: Argument, single: Callable[..., Any], results: Any,
    forms: tuple[Form, ...] = _MANUAL, automatic: tuple[str, ...] = (),
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:  # fmt: skip
    """Registers a program of shard_map."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        _add(
            Sharded(
                function.__name__, kind, mesh, arguments, forms, local=function, single=single, results=results,
                automatic=automatic,
            )
        )  # fmt: skip
        return function

    return register


def annotated(
    kind: str, mesh: tuple[tuple[str, int], ...], *arguments: Argument, results: Any, forms: tuple[Form, ...] = _TEXT
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Registers a program whose text is annotated with placements that JAX does not accept, such as uneven ones."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        _add(Sharded(function.__name__, kind, mesh, arguments, forms, single=function, results=results))
        return function

    return register


def _add(program: Sharded) -> None:
    if program.name in SHARDED:
        raise ValueError(f"two programs are called {program.name}")
    SHARDED[program.name] = program
