"""Bounds of constants: so many bits have the numerators and the common denominator of all of them."""

from __future__ import annotations


class Heights:
    """The bits of the largest numerator of the constants that were seen, and of their denominators together."""

    def __init__(self) -> None:
        # Of integers.
        self._numerator = 64
        self._power = 1
        self._denominators: set[int] = set()

    def see(self, bits: int) -> None:
        """Notes the bits of a numerator."""
        self._numerator = max(self._numerator, bits)

    def divide_by_power(self, exponent: int) -> None:
        """Notes a denominator that is a power of two."""
        self._power = max(self._power, exponent)

    def divide_by(self, denominator: int) -> None:
        """Notes a denominator."""
        twos = (denominator & -denominator).bit_length() - 1
        self.divide_by_power(twos)
        if denominator >> twos > 1:
            self._denominators.add(denominator >> twos)

    @property
    def bits(self) -> int:
        """Returns the bits of any constant's numerator over the common denominator."""
        return self._numerator + self._power + sum(each.bit_length() for each in self._denominators)
