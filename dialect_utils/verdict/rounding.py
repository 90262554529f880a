"""The operands of dots that a TPU rounds at DEFAULT precision."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

# The type to which a TPU rounds operands of dots of f32 at DEFAULT precision.
ROUNDED: Final = "bf16"


@dataclass(frozen=True, slots=True)
class Rounding:
    """Operands of a program's dots that are rounded to bf16: a bit for each, and the numbers of dots that have them."""

    operands: int
    dots: int
    convolutions: int

    def as_json(self) -> dict[str, Any]:
        """Returns the numbers of dots and of convolutions."""
        return {"dots": self.dots, "convolutions": self.convolutions}

    def __str__(self) -> str:
        named = ((self.dots, "dot"), (self.convolutions, "convolution"))
        counted = [f"{count} {name}{'s' if count > 1 else ''}" for count, name in named if count]
        return f"operands of {' and '.join(counted)} rounded to {ROUNDED}"
