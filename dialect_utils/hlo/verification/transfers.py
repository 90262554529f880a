"""Whether sends and receives belong together: one channel has one transfer, and no schedule waits forever.

Source: xla/service/hlo_verifier.cc (VerifyChannels, VerifyNoCollectiveDeadlocks).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from dialect_utils.hlo.computation import Computation
from dialect_utils.hlo.instruction import Instruction
from dialect_utils.hlo.module import HloModule
from dialect_utils.ops import START, Trait, has, split_asynchronous
from dialect_utils.text import Diagnostic

_RENDEZVOUS = "_xla_host_transfer_rendezvous"
_PAIRS = "_xla_send_recv_source_target_pairs"
# A transfer with one of these waits for no partner in the schedule.
_UNCHECKED = frozenset(("_xla_send_recv_pipeline", "_xla_send_recv_validation"))
_PAIR = re.compile(r"\{\s*(\d{1,18})\s*,\s*(\d{1,18})\s*\}")
_PARTNERS = {"send": "recv", "recv": "send"}
# Calls that share computations can have far more paths than instructions.
_MOST_VISITED = 1 << 16

Pairs = tuple[tuple[str, str], ...]


def is_host_transfer(instruction: Instruction) -> bool:
    """Is true for a transfer between a device and its host."""
    return instruction.attribute("is_host_transfer") == "true"


def is_trivial(computation: Computation) -> bool:
    """Is true for a computation of parameters and one operation (HloComputation::CanExpandIntoSingleInstruction)."""
    return all(each.opcode == "parameter" or each.is_root for each in computation.instructions)


def find_transfer_problems(module: HloModule, found: Sequence[Instruction]) -> Iterator[Diagnostic]:
    """Yields host transfers on one channel that differ, and transfers of a schedule that wait forever."""
    first: dict[str | None, Instruction] = {}
    transfers = [each for each in found if each.opcode in _PARTNERS]
    for each in transfers:
        channel = each.attribute("channel_id")
        if is_host_transfer(each) and channel is not None:
            parts = zip(_kind(first.setdefault(channel, each)), _kind(each), strict=True)
            for one, other in [pair for pair in parts if pair[0] != pair[1]][:1]:
                message = "host-transfer send/recv instructions that use the same channel must be identical up to their"
                yield Diagnostic(f"{each.name}: {message} operands, found {one} and {other}", each.location)
    if module.is_scheduled and module.try_entry() is not None and any(map(_pairs_of, transfers)):
        schedule = _Schedule([_MOST_VISITED])
        yield from schedule.walk(module.entry)
        if schedule.expected:
            yield from schedule.unmatched()


def _kind(transfer: Instruction) -> tuple[str, str, str | None]:
    return transfer.opcode, str(transfer.shape.without_layout), transfer.frontend_attributes.get(_RENDEZVOUS)


def _pairs_of(transfer: Instruction) -> Pairs:
    """Returns the (source, target) pairs of a transfer whose partner has to be in the schedule, else ()."""
    notes = transfer.frontend_attributes
    is_checked = not is_host_transfer(transfer) and _UNCHECKED.isdisjoint(notes)
    return tuple(_PAIR.findall(notes.get(_PAIRS, ""))) if is_checked else ()


class _Schedule:
    """The transfers on the way through a schedule that wait for partners; `expected` is the opcode that comes next."""

    def __init__(self, left: list[int]) -> None:
        # How many instructions may still be visited, shared by nested schedules.
        self.left = left
        self.expected = ""
        self.waiting: dict[str, list[tuple[Instruction, Pairs]]] = {"send": [], "recv": []}

    def walk(self, computation: Computation) -> Iterator[Diagnostic]:
        """Yields the problems of a computation and of those that it calls, in the order of execution."""
        for each in computation.instructions:
            self.left[0] -= 1
            if self.left[0] < 0:
                return
            if each.opcode in _PARTNERS:
                yield from self._add(each, _pairs_of(each))
            elif has(each.opcode, Trait.COLLECTIVE) and not split_asynchronous(each.opcode)[1]:
                if self.expected:
                    message = f"expected {self.expected}: introducing this {each.opcode} will cause a deadlock of "
                    message += ", ".join(f"%{item.name}" for item, _ in (*self.waiting["send"], *self.waiting["recv"]))
                    yield Diagnostic(f"{each.name}: {message}", each.location)
                    self.expected = ""
                    return
            elif not has(each.opcode, Trait.APPLIES):
                yield from self._calls(each)

    def _calls(self, caller: Instruction) -> Iterator[Diagnostic]:
        for called in caller.called:
            if not caller.opcode.endswith(START) or is_trivial(called):
                yield from self.walk(called)
                continue
            inner = _Schedule(self.left)
            yield from inner.walk(called)
            if self.expected:
                yield from inner.unmatched()

    def _add(self, transfer: Instruction, pairs: Pairs) -> Iterator[Diagnostic]:
        if not pairs:
            return
        kind, partner = transfer.opcode, _PARTNERS[transfer.opcode]
        problem = _conflict(pairs)
        if problem is None and self.expected == partner:
            known = [pair for _, others in self.waiting[kind] for pair in others]
            problem = _conflict((*known, *pairs)) and f"expected {partner} before another {kind}"
        if problem is not None:
            yield Diagnostic(f"{transfer.name}: {problem}, found {pairs}", transfer.locate("frontend_attributes"))
            return
        match = next((each for each in self.waiting[partner] if each[1] == pairs), None)
        if match is None or self.expected == partner:
            self.waiting[kind].append((transfer, pairs))
        else:
            self.waiting[partner].remove(match)
        # The partners of the transfers that wait longest come next.
        is_met = self.expected == kind and not self.waiting[partner]
        self.expected = "" if is_met else self.expected or partner

    def unmatched(self) -> Iterator[Diagnostic]:
        """Yields the transfers that have no partner."""
        for kind, waiting in self.waiting.items():
            for each, pairs in waiting:
                if all(pairs != other for _, other in self.waiting[_PARTNERS[kind]]):
                    message = f"expected {_PARTNERS[kind]} to match {kind} and to have the same source-target pairs"
                    yield Diagnostic(f"{each.name}: {message}, found {pairs}", each.locate("frontend_attributes"))


def _conflict(pairs: Pairs) -> str | None:
    """Returns why pairs cannot be one exchange of sends and receives, or None."""
    targets = dict(pairs)
    if len(targets) < len(pairs) or len({*targets.values()}) < len(pairs):
        return "expected send and recv instructions to have unique source and target pairs"
    ending: set[str] = set()
    for start in targets:
        device, path = start, set[str]()
        while device in targets and device not in path and device not in ending:
            path.add(device)
            device = targets[device]
        if device in path:
            return "expected send and recv instructions to have non-cyclical source-target pairs"
        ending |= path
    return None
