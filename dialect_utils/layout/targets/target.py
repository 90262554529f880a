"""The properties of a chip on which layouts, memory and compilation depend, as one interface."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from dialect_utils.layout.element_type import ElementType
from dialect_utils.layout.layout import Layout
from dialect_utils.layout.shape import ArrayShape

Platform = Literal["tpu", "cuda"]


@dataclass(frozen=True, slots=True)
class Target(ABC):
    """A chip of one generation.

    `peak_flops` are products and sums of bf16 matrices, `peak_bytes` bytes of main memory, both of one device in one
    second; `peak_source` says where they come from. `memory_bytes` of main memory are there for a program. `platform`
    is XLA's name of the compiler, which `has_costs` if it counts the bytes that a program accesses. `description` is
    the text about a chip that the compiler takes, if any.
    """

    name: str
    peak_flops: float
    peak_bytes: float
    memory_bytes: int
    description: str = field(default="", repr=False, kw_only=True)
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
