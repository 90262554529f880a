"""The properties of a chip on which layouts, memory and compilation depend, as one interface."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import permutations
from typing import ClassVar, Literal

from dialect_utils.layout.element_type import ElementType
from dialect_utils.layout.layout import Layout
from dialect_utils.layout.shape import ArrayShape

# `described`: a chip that a file of the user describes, for which nothing is compiled.
Platform = Literal["tpu", "cuda", "described"]
# xla/layout.h, Layout::kHostMemorySpace: the host's memory beside the device's.
HOST_MEMORY_SPACE = 5


@dataclass(frozen=True, slots=True)
class Target(ABC):
    """A chip of one generation.

    `peak_flops` are products and sums of bf16 matrices, `peak_bytes` bytes of main memory, both of one device in one
    second; `peak_source` says where they come from. `memory_bytes` of main memory are there for a program. `platform`
    is XLA's name of the compiler, which `has_costs` if it counts the bytes that a program accesses. `description` is
    the text about a chip that the compiler takes, if any. `spaces` are the names of
    memory spaces by their numbers, that of main memory as its makers call it.
    """

    name: str
    peak_flops: float
    peak_bytes: float
    memory_bytes: int
    description: str = field(default="", repr=False, kw_only=True)
    spaces: tuple[tuple[int, str], ...] = field(default=((0, "memory"),), repr=False, kw_only=True)
    platform: ClassVar[Platform]
    peak_source: ClassVar[str]
    has_costs: ClassVar[bool]

    @abstractmethod
    def order(self, element_type: ElementType, dimensions: tuple[int, ...]) -> tuple[int, ...]:
        """Returns the minor_to_major that the compiler gives an entry array of rank 2 or more."""

    @abstractmethod
    def layout(self, element_type: ElementType, dimensions: tuple[int, ...], minor_to_major: tuple[int, ...]) -> Layout:
        """Returns the whole layout of an array whose minor_to_major is given."""

    def inner_layout(
        self, element_type: ElementType, dimensions: tuple[int, ...], minor_to_major: tuple[int, ...]
    ) -> Layout:
        """Returns the layout of an array inside of a program."""
        return self.layout(element_type, dimensions, minor_to_major)

    @abstractmethod
    def allocation_bytes(self, shape: ArrayShape) -> int:
        """Returns the bytes that the runtime allocates for an array with a layout and bounded dimensions."""

    @abstractmethod
    def topology(self, devices: int) -> dict[str, str]:
        """Returns a machine with at least so many devices, as arguments of `jax.experimental.topologies`.

        Raises DiagnosticError where no machine has as many.
        """

    def space_name(self, space: int) -> str:
        """Returns the name of a memory space for people: `VMEM, S(1)`; without a known name `S(2)`."""
        return dict(self.spaces).get(space, "host" if space == HOST_MEMORY_SPACE else f"S({space})")


def minor_orders(rank: int) -> Iterator[tuple[int, ...]]:
    """Yields each minor_to_major whose dimensions are in descending order but for the two most minor ones."""
    for minor, second in permutations(range(rank), 2):
        yield (minor, second, *(i for i in range(rank - 1, -1, -1) if i not in (minor, second)))
