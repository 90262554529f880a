"""Kernel programs of the corpus; inputs are drawn as those of the other programs are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.corpus.programs.registry import Argument, Program


@dataclass(frozen=True, slots=True)
class KernelProgram(Program):
    """A JAX function that calls kernels, with its arguments; a sharded one takes the mesh as its first argument.

    `tolerance` is how far a result may be from the interpreter's, relative to the largest magnitude: 0
    for integers. `refused` is what the refusal of a kernel that cannot be lowered has to name.
    `reference` computes the same without a kernel, where JAX's interpreters fail.
    """

    tolerance: float = 0.0


KERNELS: dict[str, KernelProgram] = {}


def kernel(
    *arguments: Argument,
    on: str = "v5e",
    tolerance: float = 1e-5,
    refused: str = "",
    mesh: tuple[tuple[str, int], ...] = (),
    reference: Callable[..., Any] | None = None,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Registers the decorated function under its own name."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        name = function.__name__
        if name in KERNELS:
            raise ValueError(f"two kernel programs are called {name}")
        KERNELS[name] = KernelProgram(
            name, function, arguments, on, mesh=mesh, reference=reference, refused=refused, tolerance=tolerance
        )
        return function

    return register
