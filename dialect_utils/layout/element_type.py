"""XLA's primitive types: names and widths.

Source: xla/xla_data.proto (PrimitiveType) and xla/primitive_util.h (BitWidth).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from dialect_utils.text import DiagnosticError, nearest


class CachedText:
    """A value whose text is computed once for each object, and whose repr is the text."""

    # Subclasses keep their hash in a method of their own: one that serves several classes is a quarter slower.
    __slots__ = ("_hash", "_text")

    _hash: int
    _text: str

    def _format(self) -> str:
        raise NotImplementedError

    def __str__(self) -> str:
        try:
            return self._text
        except AttributeError:
            object.__setattr__(self, "_text", self._format())
            return self._text

    def __repr__(self) -> str:
        return str(self)


@dataclass(frozen=True, slots=True, repr=False)
class ElementType(CachedText):
    """An array element type: its name and width in bits.

    `bits` is the width of a value, `storage_bits` the width of an element in memory
    where the layout has no `E(n)`: whole bytes.
    """

    name: str
    bits: int
    storage_bits: int = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "storage_bits", max(8, -(-self.bits // 8) * 8))

    @property
    def storage_bytes(self) -> int:
        """Returns the bytes one element occupies without `E(n)`."""
        return self.storage_bits // 8

    @property
    def is_floating(self) -> bool:
        """Is true for the real floating-point types."""
        return self.name[0] in "fb"

    @property
    def is_complex(self) -> bool:
        """Is true for c64 and c128."""
        return self.name[0] == "c"

    @property
    def is_inexact(self) -> bool:
        """Is true for floating-point and complex types, whose operations round."""
        return self.name[0] in "fbc"

    @property
    def is_signed(self) -> bool:
        """Is true for signed integers."""
        return self.name[0] == "s"

    @property
    def is_unsigned(self) -> bool:
        """Is true for unsigned integers."""
        return self.name[0] == "u"

    @property
    def integer_range(self) -> tuple[int, int]:
        """Returns the smallest and the largest number of an integer type."""
        low = -(1 << self.bits - 1) if self.is_signed else 0
        return low, low + (1 << self.bits) - 1

    @property
    def is_integral(self) -> bool:
        """Is true for signed and unsigned integers (not pred)."""
        return self.is_signed or self.is_unsigned

    @property
    def part(self) -> ElementType:
        """Returns the type of the real and imaginary parts of a complex type; the part of another type is that type."""
        return ELEMENT_TYPES[f"f{self.bits // 2}"] if self.is_complex else self

    @property
    def poison_bits(self) -> int:
        """Returns bits that no program expects: a NaN where the type has one, else 1010... from the top."""
        if self.is_complex:
            part = self.part
            return part.poison_bits << part.bits | part.poison_bits
        if self.name == "pred":
            return 1
        return _NAN_BITS.get(self.name, int("10" * self.bits, 2) >> self.bits)

    def __str__(self) -> str:
        return self.name


# Quiet NaNs. The types whose names end in `fnuz` have one NaN, encoded as -0; f4 and f6 have no NaN.
_NAN_BITS = {
    "f64": 0x7FF8_0000_0000_0000,
    "f32": 0x7FC0_0000,
    "bf16": 0x7FC0,
    "f16": 0x7E00,
    "f8e5m2": 0x7E,
    "f8e4m3": 0x7C,
    "f8e4m3fn": 0x7F,
    "f8e3m4": 0x78,
    "f8e4m3b11fnuz": 0x80,
    "f8e5m2fnuz": 0x80,
    "f8e4m3fnuz": 0x80,
    "f8e8m0fnu": 0xFF,
}

_WIDTHS = {
    1: "pred s1 u1",
    2: "s2 u2",
    4: "s4 u4 f4e2m1fn",
    6: "f6e2m3fn f6e3m2fn",
    8: "s8 u8 f8e5m2 f8e4m3 f8e4m3fn f8e4m3b11fnuz f8e3m4 f8e5m2fnuz f8e4m3fnuz f8e8m0fnu",
    16: "s16 u16 f16 bf16",
    32: "s32 u32 f32",
    64: "s64 u64 f64 c64",
    128: "c128",
}

ELEMENT_TYPES: dict[str, ElementType] = {
    name: ElementType(name, bits) for bits, names in _WIDTHS.items() for name in names.split()
}


def parse_element_type(name: str) -> ElementType:
    """Returns the element type of a lower-case XLA name; raises DiagnosticError for others."""
    found = ELEMENT_TYPES.get(name)
    if found is None:
        known = nearest(name.lower(), ELEMENT_TYPES)
        hint = f"write {known}" if known else f"known types: {', '.join(ELEMENT_TYPES)}"
        raise DiagnosticError(f"unknown element type {name!r}", hint=hint)
    return found
