"""How to compare."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from dialect_utils.engine_names import ENGINES, Engine
from dialect_utils.execution import DEFAULT_MEMORY_BYTES, DEFAULT_TIMEOUT_SECONDS, Array, SavedArray
from dialect_utils.text import Diagnostic, DiagnosticError
from dialect_utils.verdict.comparator import AUTO
from dialect_utils.verdict.result import PROOF

Method = Literal["proof"] | Engine
_METHODS = (PROOF, *ENGINES)


@dataclass(frozen=True, slots=True)
class Options:
    """How to compare.

    `engines`: `proof` looks for a proof first; engines run in this order, and all that can execute the
    modules must agree. None: a proof, XLA:CPU and, for small modules, the interpreter. `seeds` is how
    many times each kind of data is drawn; `compare` is `auto`, `bits`, `ulp:N` or `rel:X`; `inputs`
    replace the drawn ones; `timeout` holds for all engines together, in seconds; `memory` is what executing a
    module may take, in bytes. `power`: how many
    mistakes are planted to measure what the data sees; None: as many as take about the time of the check.
    Raises DiagnosticError for engines that do not exist, and for no seeds.
    """

    engines: tuple[Method, ...] | None = None
    seeds: int = 1
    compare: str = AUTO
    inputs: tuple[Array | SavedArray, ...] | None = None
    timeout: float = DEFAULT_TIMEOUT_SECONDS
    memory: int = DEFAULT_MEMORY_BYTES
    power: int | None = None

    def __post_init__(self) -> None:
        asked = () if self.engines is None else self.engines
        if not isinstance(asked, tuple) or not {*asked} <= {*_METHODS}:
            message = f"engines are a tuple of {', '.join(_METHODS)}, not {asked!r}"
            raise DiagnosticError(Diagnostic(message, hint='engines=("proof", "xla")'))
        if not isinstance(self.seeds, int) or self.seeds < 1:
            raise DiagnosticError(Diagnostic(f"seeds is how often data is drawn, at least once, not {self.seeds!r}"))

    @property
    def proves(self) -> bool:
        """Is true where a proof is looked for."""
        return self.engines is None or PROOF in self.engines

    @property
    def executes(self) -> bool:
        """Is true where any engine is asked."""
        return self.engines is None or any(engine != PROOF for engine in self.engines)
