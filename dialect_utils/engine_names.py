"""Names of engines, of answers and of stages of a compilation: lists that load nothing."""

from collections.abc import Collection
from typing import Literal, get_args

Engine = Literal["xla", "interpreter", "reference"]
ENGINES: tuple[Engine, ...] = get_args(Engine)
DEFAULT_ENGINE: Engine = "xla"
# How messages and results call each engine.
ENGINE_TITLES: dict[str, str] = {
    "xla": "XLA",
    "interpreter": "StableHLO's interpreter",
    "reference": "the reference evaluator",
}

# The answer `equal` with choices that a proof leaves to the engine.
UP_TO = "equal-up-to"
_ANSWERS = ("equal", UP_TO, "equal-if", "agrees", "close")
# The answers that suffice, by the weakest one of them.
REQUIRED = {answer: _ANSWERS[: number + 1] for number, answer in enumerate(_ANSWERS)}

# When a compiler hands over a module.
Stage = Literal["before-scheduling", "after-scheduling"]
STAGES: tuple[Stage, ...] = get_args(Stage)


def suffices(verdict: str, choices: Collection[str], require: str) -> bool:
    """Is true for a verdict, with these choices left open, that is not weaker than the answer `require`."""
    return (UP_TO if choices and verdict == "equal" else verdict) in REQUIRED[require]
