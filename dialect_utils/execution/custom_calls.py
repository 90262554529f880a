"""Custom calls that may run: a target is code of jaxlib's process, which a file must not choose freely.

`xla_ffi_python_cpu_callback`, for example, reads any address that the module's backend_config names. Some kernels check
neither shapes nor attributes before they read memory, so both are checked here. Sources: jaxlib/cpu/lapack_kernels.cc
and the lowerings of jax/_src/lax/linalg.py (JAX 0.10) for LAPACK's; xla/hlo/transforms/expanders/qr_expander.cc,
eigh_expander.cc and householder's for XLA's own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from dialect_utils.execution.errors import RefusedError
from dialect_utils.ir import Module, Operation, Value
from dialect_utils.layout import ELEMENT_TYPES, ArrayShape, ElementType
from dialect_utils.ops import SHARDINGS, named
from dialect_utils.ops.control import calls_gpu_library
from dialect_utils.text import Diagnostic, DiagnosticError, meant

# Operations that name a target.
_CALLS = named("custom-call custom-call-start")
# Targets that return their operand and only inform the compiler of a program for several devices.
IDENTITIES = SHARDINGS | {"SPMDFullToShardShape", "SPMDShardToFullShape", "LayoutConstraint"}
IDENTITIES |= {"annotate_device_placement", "MoveToHost", "MoveToDevice"}
# Prefixes of targets that a bare jaxlib implements: no other compiler writes them.
_LOCAL = ("lapack_", "blas_", "xla_ffi_", "xla_python_", "tridiagonal_solve_", "dce_sink")
# The worker removes these calls before compilation; they have no results. Other check.* calls read files.
_CHECKS = frozenset({"check.expect_eq", "check.expect_close", "check.expect_almost_eq"})
# XLA replaces it by a sort, which it verifies, before it looks for a target.
_REPLACED = frozenset({"ApproxTopK"})
_HINT = "--custom-call NAME=HLO gives a computation in its place"
# Operations of this dialect write files whose names the module chooses.
_INTERPRETER = "interpreter."

_CONFIGURATIONS = ("backend_config", "mhlo.backend_config")
_ENTRY = re.compile(r"(\w+) = (-?\d{1,9}|true|false)(?: : u?i\d+)?")
_BOOLEANS = {"true": 1, "false": 0}

_LAPACK = re.compile(r"lapack_(?P<type>[sdcz])(?P<routine>\w+?)_ffi")
_LAPACK_TYPES = {"s": "f32", "d": "f64", "c": "c64", "z": "c128"}
_COMPLEX = {kind.part.name: name for name, kind in ELEMENT_TYPES.items() if kind.is_complex}
_REAL_ONLY, _COMPLEX_ONLY = "sd", "cz"


class CallError(Exception):
    """A custom call whose shapes or attributes are not those of its target."""


@dataclass(frozen=True, slots=True)
class Signature:
    """The arrays and attributes of one routine.

    `operands` and `results` hold a word for each array: a type and a colon (`i:` s32, `r:` real, `c:` complex;
    without: the routine's own type), then a letter for each dimension after the batch dimensions, which all arrays
    share. Equal letters are equal sizes; `k` is the smaller of m and n, `o` is n-1. `bounds` holds pairs of letters,
    the first no larger than the second. `attributes` gives the values that each may have, or the letter of a size;
    `types` are the LAPACK type letters to which the signature applies.
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
    "trsm": (Signature("mm mn", "mn", {"side": b"L", **_SOLVE}), Signature("nn mn", "mn", {"side": b"R", **_SOLVE})),
}
# XLA:CPU expands or runs these itself and assumes these shapes.
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


def is_linear_algebra(target: str) -> bool:
    """Is true for a call that runs, and that factors or multiplies matrices by an algorithm of the engine."""
    return has_signature(target) and not target.lower().endswith("topk")


def runs_anywhere(target: str) -> bool:
    """Is true for a target that the engines run, replace or remove."""
    return target in _REPLACED | _CHECKS | IDENTITIES or has_signature(target)


def has_signature(target: str) -> bool:
    """Is true for a target whose shapes are known."""
    return target in _OWN or is_lapack(target)


def check_call(
    target: str, operands: Sequence[ArrayShape], results: Sequence[ArrayShape], attributes: Mapping[str, int]
) -> None:
    """Raises CallError unless a target of `has_signature` maps these operands to these results.

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
        is_selected = attributes is None
        try:
            _check_values(signature, attributes or {})
            is_selected = True
            sizes = _Sizes(own)
            sizes.match("operand", signature.operands, operands)
            sizes.derive()
            sizes.match("result", signature.results, results)
            sizes.check(signature.bounds, signature.attributes, attributes or {})
        except CallError as error:
            errors.setdefault(is_selected, error)
        else:
            return
    # The error of the variant that the attributes select is more specific than a mismatch of attributes.
    raise errors.get(True) or errors[False]


@dataclass(slots=True)
class _Sizes:
    """The sizes of a signature's letters in one call."""

    own: ElementType
    batch: tuple[int, ...] | None = None
    by_letter: dict[str, int] = field(default_factory=dict)

    def match(self, kind: str, words: str, arrays: Sequence[ArrayShape]) -> None:
        """Assigns sizes to new letters and compares the sizes of known ones."""
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
            "r": self.own.part.name,
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
        """Assigns the letters k and o, which follow from m and n."""
        sizes = self.by_letter
        if "m" in sizes and "n" in sizes:
            sizes.setdefault("k", min(sizes["m"], sizes["n"]))
        if sizes.get("n", 0) > 0:
            sizes.setdefault("o", sizes["n"] - 1)

    def check(
        self, bounds: Sequence[tuple[str, str]], allowed: Mapping[str, object], attributes: Mapping[str, int]
    ) -> None:
        """Raises CallError where a size exceeds its bound or an attribute differs from its size."""
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


class ForbiddenCallError(RefusedError):
    """A module with a custom call that must not run."""


class ForeignCallError(DiagnosticError):
    """A module with calls of a GPU's libraries, which this machine lacks; a proof may leave them as they are."""


def check_calls(module: Module) -> None:
    """Raises ForbiddenCallError with all locations of custom calls that must not run, or ForeignCallError."""
    _check(module.operations())


def check_local_calls(module: Module) -> None:
    """Raises ForbiddenCallError for calls that would run code of jaxlib; other compilers' calls may stay."""
    _check(each for each in module.operations() if (each.callee or "").startswith(_LOCAL))


def _check(operations: Iterable[Operation]) -> None:
    forbidden = [(each, problem) for each in operations if (problem := _problem(each)) is not None]
    if forbidden:
        is_foreign = all(calls_gpu_library(each.callee) for each, _ in forbidden)
        raise (ForeignCallError if is_foreign else ForbiddenCallError)([problem for _, problem in forbidden])


def find_forbidden_calls(module: Module) -> Iterator[Diagnostic]:
    """Returns a diagnostic for every custom call that must not run, found one after another."""
    return filter(None, map(_problem, module.operations()))


def is_column_major_call(operation: Operation) -> bool:
    """Is true for a call of LAPACK, whose results are column-major as its layouts state."""
    return is_lapack(operation.callee or "")


def _problem(operation: Operation) -> Diagnostic | None:
    if operation.opcode.startswith(_INTERPRETER):
        return Diagnostic(f"{operation.opcode} is for StableHLO's own tests: it writes files", operation.location)
    if operation.opcode not in _CALLS:
        return None
    target = operation.callee or ""
    if target in _REPLACED or (target in _CHECKS and not operation.results):
        return None
    if target not in IDENTITIES and not has_signature(target):
        return Diagnostic(
            f"the custom call {target} must not run here", operation.location, hint=meant(target, IDENTITIES, _HINT)
        )
    if operation.opcode != "custom-call":
        # Its shapes are those of the asynchronous form; the worker checks the converted call again.
        return None
    try:
        _check_shapes(operation, target)
    except CallError as error:
        return Diagnostic(f"the custom call {target}: {error}", operation.location)
    return None


def _check_shapes(operation: Operation, target: str) -> None:
    operands, results = _arrays(operation.operands), _arrays(operation.results)
    if target not in IDENTITIES:
        check_call(target, operands, results, _configuration(operation) if is_lapack(target) else {})
        return
    shapes = [value.shape.without_layout for value in (*operation.operands, *operation.results)]
    if len(shapes) != len(("operand", "result")) or shapes[0] != shapes[1]:
        raise CallError("it returns its operand, the only one, so both must have the same shape")


def _arrays(values: Sequence[Value]) -> list[ArrayShape]:
    leaves = [leaf for value in values for leaf in value.shape.arrays()]
    if not all(leaf.is_static and not leaf.is_tiled for leaf in leaves):
        raise CallError("it works on arrays of known sizes without tiles")
    return leaves


def _configuration(operation: Operation) -> Mapping[str, int]:
    """Returns the attributes of a call's configuration, `{name = value : type}` in both dialects."""
    texts = [operation.attribute(name) for name in _CONFIGURATIONS]
    given = [text.strip('"') for text in texts if text is not None and text.strip('"')]
    if len(given) != 1:
        raise CallError(f"it has {len(given)} configurations, but takes 1")
    found: dict[str, int] = {}
    inside = given[0].removeprefix("{").removesuffix("}")
    for part in inside.split(", ") if inside else ():
        entry = _ENTRY.fullmatch(part)
        if entry is None or entry[1] in found:
            raise CallError(f"its configuration is {given[0]}, which is no list of numbers")
        found[entry[1]] = _BOOLEANS[entry[2]] if entry[2] in _BOOLEANS else int(entry[2])
    return found
