"""On how many devices a module runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dialect_utils.ir import Module, Operation
from dialect_utils.ops import Trait, has
from dialect_utils.text import Diagnostic, DiagnosticError

_REPLICAS = ("replica_count", "mhlo.num_replicas")
_PARTITIONS = ("num_partitions", "mhlo.num_partitions")
# One process on one machine has to run them all.
_MOST_DEVICES = 64


@dataclass(frozen=True, slots=True)
class Devices:
    """How many replicas and partitions a module is written for, and its first op that depends on which one runs it."""

    replicas: int
    partitions: int
    dependent: Operation | None

    @property
    def count(self) -> int:
        """Returns how many devices run the module."""
        return self.replicas * self.partitions

    @property
    def needed(self) -> int:
        """Returns on how many devices it must be run: on one, where nothing depends on others."""
        return self.count if self.dependent is not None else 1


def devices_of(module: Module) -> Devices:
    """Returns the devices of a module; raises DiagnosticError for more than one machine can be taken for."""
    dependent = next((each for each in module.operations() if has(each.opcode, Trait.AMONG_DEVICES)), None)
    found = Devices(_count(module, _REPLICAS), _count(module, _PARTITIONS), dependent)
    if dependent is None or found.count <= _MOST_DEVICES:
        return found
    message = f"module {module.name} is for {found.count} devices; at most {_MOST_DEVICES} run here"
    raise DiagnosticError(Diagnostic(message, dependent.location))


def common_device_count(modules: Sequence[Module]) -> int:
    """Returns on how many devices all modules run; raises DiagnosticError where they are for different numbers."""
    found = [devices_of(module) for module in modules]
    needed = [each for each in found if each.dependent is not None]
    counts = sorted({each.count for each in needed})
    if len(counts) > 1:
        message = f"the modules are for different numbers of devices: {' and '.join(map(str, counts))}"
        raise DiagnosticError(Diagnostic(message))
    return counts[0] if counts else 1


def partitions_of(module: Module) -> int:
    """Returns how many partitions run a module of which something depends on them.

    Raises DiagnosticError for one of several replicas, too: which of both a collective is among is not told apart.
    """
    found = devices_of(module)
    if found.dependent is None or found.partitions == 1:
        return 1
    if found.replicas > 1:
        message = f"module {module.name} has replicas and partitions: collectives between both cannot be told apart"
        raise DiagnosticError(Diagnostic(message, found.dependent.location))
    return found.partitions


def _count(module: Module, names: Sequence[str]) -> int:
    texts = [module.attributes[name] for name in names if name in module.attributes]
    # MLIR writes `2 : i32`.
    words = [text.split()[0] for text in texts if text.split()]
    return max([1, *(int(word) for word in words if word.isdigit())])
