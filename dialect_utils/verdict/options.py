"""The options of a comparison."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, get_args

from dialect_utils.engine_names import ENGINES, Engine
from dialect_utils.execution import DEFAULT_MEMORY_BYTES, DEFAULT_TIMEOUT_SECONDS
from dialect_utils.text import DiagnosticError
from dialect_utils.verdict.outcome import PROOF

if TYPE_CHECKING:
    from dialect_utils.execution import Array, SavedArray
    from dialect_utils.ops.sharding import Partition

AUTO: Final = "auto"
Method = Literal["proof"] | Engine
DotPrecision = Literal["default", "highest"]
DOT_PRECISIONS: tuple[DotPrecision, ...] = get_args(DotPrecision)
_METHODS = (PROOF, *ENGINES)


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a comparison.

    `engines`: `proof` looks for a proof first; engines run in this order, and all that can execute the
    modules must agree. None: a proof, XLA:CPU and, for small modules, the interpreter. `seeds` is the
    number of times each kind of data is drawn; `compare` is `auto`, `bits`, `ulp:N`, `rel:X` or `of-largest:X`;
    `inputs` replace drawn data; `timeout` limits all engines together, in seconds; `proof_seconds` limits the proof, in
    seconds of this process's CPU time; `memory` limits the execution of a module, in bytes. `power` is the number of
    faults to inject for measuring which faults the data detects; None: as many as take about the time of the check.
    `field_seed` repeats a comparison over the reals; None: primes and random numbers that nobody knows before.
    `precision` is `default` where the dump of a TPU may round operands of dots at DEFAULT precision, `highest` where it
    may not. Without `over_reals` no proof decides equality over the reals, which computes with large arrays. With a
    partition the last module computes on the parts of the first module's arrays that several devices
    hold. Raises DiagnosticError for an unknown engine or precision, and for fewer than one seed.
    """

    engines: tuple[Method, ...] | None = None
    seeds: int = 1
    compare: str = AUTO
    inputs: tuple[Array | SavedArray, ...] | None = None
    timeout: float = DEFAULT_TIMEOUT_SECONDS
    proof_seconds: float = DEFAULT_TIMEOUT_SECONDS
    memory: int = DEFAULT_MEMORY_BYTES
    power: int | None = None
    field_seed: int | None = None
    precision: DotPrecision = "default"
    partition: Partition | None = None
    over_reals: bool = True

    def __post_init__(self) -> None:
        asked = () if self.engines is None else self.engines
        if not isinstance(asked, tuple) or not {*asked} <= {*_METHODS}:
            message = f"engines are a tuple of {', '.join(_METHODS)}, not {asked!r}"
            raise DiagnosticError(message, hint='engines=("proof", "xla")')
        if not isinstance(self.seeds, int) or self.seeds < 1:
            raise DiagnosticError(f"seeds is how often data is drawn, at least once, not {self.seeds!r}")
        if self.precision not in DOT_PRECISIONS:
            raise DiagnosticError(f"precision is {' or '.join(DOT_PRECISIONS)}, not {self.precision!r}")
        if self.field_seed is not None and not 0 <= self.field_seed < 1 << 128:
            raise DiagnosticError(f"field_seed is a number of up to 128 bits, not {self.field_seed!r}")

    @property
    def proves(self) -> bool:
        """Is true where the comparison looks for a proof."""
        return self.engines is None or PROOF in self.engines

    @property
    def executes(self) -> bool:
        """Is true where the comparison runs an engine."""
        return self.engines is None or any(engine != PROOF for engine in self.engines)
