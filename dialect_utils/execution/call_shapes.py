"""The shapes and attributes of the custom calls that may run: some kernels check neither, and read what they are told.

Source: jaxlib/cpu/lapack_kernels.cc and the lowerings of jax/_src/lax/linalg.py (JAX 0.10) for LAPACK's;
xla/hlo/transforms/expanders/qr_expander.cc, eigh_expander.cc and householder's for XLA's own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from dialect_utils.layout import ELEMENT_TYPES, ArrayShape, ElementType

_LAPACK = re.compile(r"lapack_(?P<type>[sdcz])(?P<routine>\w+?)_ffi")
_LAPACK_TYPES = {"s": "f32", "d": "f64", "c": "c64", "z": "c128"}
_REAL = {"c64": "f32", "c128": "f64"}
_COMPLEX = {real: name for name, real in _REAL.items()}
_REAL_ONLY, _COMPLEX_ONLY = "sd", "cz"


class CallError(Exception):
    """A custom call whose shapes or attributes are not those of its target."""


@dataclass(frozen=True, slots=True)
class Signature:
    """The arrays and attributes of one routine.

    `operands` and `results` hold a word for each array: a type and a colon (`i:` s32, `r:` real, `c:`
    complex; none: the routine's own), then a letter for each dimension after those of the batch, which
    all arrays share. Equal letters are equal sizes; `k` is the smaller of m and n, `o` is n-1.
    `bounds` holds pairs of letters, the first no larger than the second. `attributes` gives the
    values that each may have, or the letter of a size; `types` are LAPACK's for which it holds.
    """

    operands: str
    results: str
    attributes: Mapping[str, Sequence[int] | str] = field(default_factory=dict)
    bounds: tuple[tuple[str, str], ...] = ()
    types: str = _REAL_ONLY + _COMPLEX_ONLY


_TRIANGLE = {"uplo": b"LU"}
_EIGENVALUES = {"mode": b"VN", **_TRIANGLE}
_SIDES = {"compute_left": b"VN", "compute_right": b"VN"}
_SOLVE = {"diag": b"NU", "trans_x": b"NTC", **_TRIANGLE}
_SCHUR = {"mode": b"VN", "sort": b"N"}
_WHOLE: dict[str, Sequence[int] | str] = {"low": (1,), "high": "n"}
_TRANSPOSE = {"transpose": (0, 1)}

_SINGULAR_VALUES = (
    Signature("mn", "mn r:k mm nn i:", {"mode": b"AN"}),
    Signature("mn", "mn r:k mk kn i:", {"mode": b"S"}),
)
_PRODUCT = (Signature("mn t", "mn", bounds=(("t", "n"), ("n", "m"))),)
_SYMMETRIC = (Signature("nn", "nn r:n i:", _EIGENVALUES),)
_TRIDIAGONAL = (Signature("nn", "nn r:n r:o o i:", _TRIANGLE),)
_MULTIPLY = (
    Signature("mt t mn", "mn", {"left": (1,), **_TRANSPOSE}, bounds=(("t", "m"),)),
    Signature("nt t mn", "mn", {"left": (0,), **_TRANSPOSE}, bounds=(("t", "n"),)),
)

_ROUTINES: dict[str, tuple[Signature, ...]] = {
    "potrf": (Signature("nn", "nn i:", _TRIANGLE),),
    "getrf": (Signature("mn", "mn i:k i:"),),
    "geqrf": (Signature("mn", "mn k"),),
    "geqp3": (Signature("mn i:n", "mn i:n k"),),
    **dict.fromkeys(("orgqr", "ungqr"), _PRODUCT),
    **dict.fromkeys(("ormqr", "unmqr"), _MULTIPLY),
    **dict.fromkeys(("gesdd", "gesvd"), _SINGULAR_VALUES),
    **dict.fromkeys(("syevd", "heevd"), _SYMMETRIC),
    "geev": (
        Signature("nn", "n n c:nn c:nn i:", _SIDES, types=_REAL_ONLY),
        Signature("nn", "n nn nn i:", _SIDES, types=_COMPLEX_ONLY),
    ),
    "gees": (
        Signature("nn", "nn nn n n i: i:", _SCHUR, types=_REAL_ONLY),
        Signature("nn", "nn nn n i: i:", _SCHUR, types=_COMPLEX_ONLY),
    ),
    "gehrd": (Signature("nn", "nn o i:", _WHOLE),),
    **dict.fromkeys(("sytrd", "hetrd"), _TRIDIAGONAL),
    "gtsv": (Signature("n n n nb", "n n n nb i:"),),
    "trsm": (
        Signature("mm mn", "mn", {"side": b"L", **_SOLVE}),
        Signature("nn mn", "mn", {"side": b"R", **_SOLVE}),
    ),
}
# XLA:CPU expands or runs these itself; what follows is what it takes for granted.
_OWN: dict[str, tuple[Signature, ...]] = {
    "Qr": (Signature("mn", "mn k"),),
    "ProductOfElementaryHouseholderReflectors": _PRODUCT,
    "Eigh": (Signature("nn", "nn r:n"),),
    **dict.fromkeys(("TopK", "mhlo.topk"), (Signature("n", "t i:t", bounds=(("t", "n"),)),)),
}


def is_lapack(target: str) -> bool:
    """Is true for the name of a LAPACK routine that may run."""
    found = _LAPACK.fullmatch(target)
    return found is not None and found["routine"] in _ROUTINES


def has_signature(target: str) -> bool:
    """Is true for a target whose shapes are known."""
    return target in _OWN or is_lapack(target)


def check_call(
    target: str,
    operands: Sequence[ArrayShape],
    results: Sequence[ArrayShape],
    attributes: Mapping[str, int],
) -> None:
    """Raises CallError unless a target that `has_signature` takes and gives these arrays.

    `attributes` are those of LAPACK's routines, letters by their code.
    """
    found = _LAPACK.fullmatch(target)
    if found is None:
        own = operands[0].element_type if operands else ELEMENT_TYPES["f32"]
        _check_any(_OWN[target], own, operands, results, None)
        return
    own = ELEMENT_TYPES[_LAPACK_TYPES[found["type"]]]
    signatures = [each for each in _ROUTINES[found["routine"]] if found["type"] in each.types]
    _check_any(signatures, own, operands, results, attributes)


def _check_any(
    signatures: Sequence[Signature],
    own: ElementType,
    operands: Sequence[ArrayShape],
    results: Sequence[ArrayShape],
    attributes: Mapping[str, int] | None,
) -> None:
    errors: dict[bool, CallError] = {}
    for signature in signatures:
        is_meant = attributes is None
        try:
            _check_values(signature, attributes or {})
            is_meant = True
            sizes = _Sizes(own)
            sizes.match("operand", signature.operands, operands)
            sizes.derive()
            sizes.match("result", signature.results, results)
            sizes.check(signature.bounds, signature.attributes, attributes or {})
        except CallError as error:
            errors.setdefault(is_meant, error)
        else:
            return
    # What is wrong with the variant that the attributes mean says more than that they mean no other.
    raise errors.get(True) or errors[False]


@dataclass(slots=True)
class _Sizes:
    """What the letters of a signature mean for the arrays of one call."""

    own: ElementType
    batch: tuple[int, ...] | None = None
    by_letter: dict[str, int] = field(default_factory=dict)

    def match(self, kind: str, words: str, arrays: Sequence[ArrayShape]) -> None:
        """Gives letters their sizes and compares those that have one."""
        wanted = words.split()
        if len(wanted) != len(arrays):
            raise CallError(f"it has {len(arrays)} {kind}s, but takes {len(wanted)}")
        for number, (word, array) in enumerate(zip(wanted, arrays, strict=True)):
            self._match_one(f"{kind} {number}", word, array)

    def _match_one(self, name: str, word: str, array: ArrayShape) -> None:
        kind, _, letters = word.rpartition(":")
        element_type = {
            "": self.own.name,
            "i": "s32",
            "r": _REAL.get(self.own.name, self.own.name),
            "c": _COMPLEX.get(self.own.name, self.own.name),
        }[kind]
        split = len(array.dimensions) - len(letters)
        batch = array.dimensions[: max(split, 0)]
        self.batch = batch if self.batch is None else self.batch
        rest = array.dimensions[max(split, 0) :]
        sizes = tuple(self.by_letter.setdefault(letter, size) for letter, size in zip(letters, rest, strict=False))
        if split < 0 or (batch, rest) != (self.batch, sizes) or array.element_type.name != element_type:
            known = [str(self.by_letter.get(letter, letter)) for letter in letters]
            needed = f"{element_type}[{','.join([*map(str, self.batch), *known])}]"
            raise CallError(f"{name} is {array.without_layout}, but {needed} is needed")

    def derive(self) -> None:
        """Gives the letters that follow from others their sizes."""
        sizes = self.by_letter
        if "m" in sizes and "n" in sizes:
            sizes.setdefault("k", min(sizes["m"], sizes["n"]))
        if sizes.get("n", 0) > 0:
            sizes.setdefault("o", sizes["n"] - 1)

    def check(
        self, bounds: Sequence[tuple[str, str]], allowed: Mapping[str, object], attributes: Mapping[str, int]
    ) -> None:
        """Raises CallError where a size is larger than its bound, or an attribute is not the size that it must be."""
        for smaller, larger in bounds:
            if self.by_letter[smaller] > self.by_letter[larger]:
                raise CallError(f"a size {self.by_letter[smaller]} must not be larger than {self.by_letter[larger]}")
        for name, value in attributes.items():
            letter = allowed[name]
            if isinstance(letter, str) and value != self.by_letter[letter]:
                raise CallError(f"its attribute {name} is {value}, but must be {self.by_letter[letter]}")


def _check_values(signature: Signature, attributes: Mapping[str, int]) -> None:
    if set(attributes) != set(signature.attributes):
        named, needed = (", ".join(sorted(names)) or "none" for names in (attributes, signature.attributes))
        raise CallError(f"its attributes are {named}, but {needed} are needed")
    for name, value in attributes.items():
        allowed = signature.attributes[name]
        if not isinstance(allowed, str) and value not in allowed:
            raise CallError(f"its attribute {name} is {value}, but may be {' or '.join(map(str, allowed))}")
