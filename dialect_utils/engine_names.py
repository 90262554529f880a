"""Names of the engines that execute modules: the one list, which loads nothing."""

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
