"""The memory that a program needs: arguments, outputs, aliases, temporaries, and the peak."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from dialect_utils.ir import Module
from dialect_utils.layout import Shape
from dialect_utils.layout.targets.gpu import Gpu
from dialect_utils.layout.targets.known import parse_target
from dialect_utils.memory.allocation import Allocation, guess_compiler, guess_target, is_on_host
from dialect_utils.memory.assignment import assign_memory, table_bytes
from dialect_utils.memory.buffers import Buffer, assign_buffers
from dialect_utils.memory.schedule import Schedule, schedule_module
from dialect_utils.memory.sharing import share_buffers

# Bytes that are held between two times, both included.
_Held = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class MemoryUsage:
    """The memory of a program in bytes; figures are of main memory (space 0) unless their names say otherwise.

    `temporary_bytes` is the maximum that temporaries hold at one time, `peak_time`; on a GPU it is the memory that the
    compiler reserves for them, gaps included. `at_peak` are the buffers in main memory at that time, the largest first,
    and `padding_bytes` their padding. `peak_by_space` is the maximum of temporaries in each memory space,
    `counted_by_space` the same as the TPU compiler counts it. `host_bytes` are arguments and outputs in the host's
    memory; an output that aliases an argument counts once.
    """

    allocation: Allocation
    schedule: Schedule
    buffers: tuple[Buffer, ...]
    argument_bytes: int
    output_bytes: int
    alias_bytes: int
    temporary_bytes: int
    peak_time: int
    peak_by_space: Mapping[int, int]
    counted_by_space: Mapping[int, int]
    host_bytes: int
    at_peak: tuple[Buffer, ...]
    is_gpu: bool = False

    @property
    def target(self) -> str | None:
        """Returns the target whose allocation rules apply, None for a module without tiles."""
        return self.allocation.target

    @property
    def main_memory_peak_bytes(self) -> int:
        """Returns the peak of main memory: arguments + outputs - aliases + temporaries."""
        return self.argument_bytes + self.output_bytes - self.alias_bytes + self.temporary_bytes

    @property
    def peak_bytes(self) -> int:
        """Returns the peak as the TPU compiler counts it (`peak_memory_in_bytes`).

        It counts the temporaries of the memory space with the most of them, so a program with all temporaries in VMEM
        has a peak above that of main memory. The constants in main memory and the host's memory always count.
        """
        entry = self.main_memory_peak_bytes - self.temporary_bytes
        constants = sum(buffer.bytes_held for buffer in self.buffers if buffer.is_constant)
        most = max(size + (constants if space else 0) for space, size in self.counted_by_space.items())
        return entry + self.host_bytes + most

    @property
    def padding_bytes(self) -> int:
        """Returns the bytes held at the peak that hold no element."""
        return sum(buffer.padding_bytes for buffer in self.at_peak)

    @property
    def is_bound(self) -> bool:
        """Is true for a module without a schedule: the peak is that of a list schedule."""
        return not self.schedule.is_given


def measure_memory(module: Module, target: str | None = None) -> MemoryUsage:
    """Returns the memory of a module, from its text alone.

    `target` determines the rounding of allocations, and the layouts of arrays that have none; the default is guessed
    from the module's tiles. Raises DiagnosticError for an unknown target and for a fragment without an entry.
    """
    is_gpu = guess_compiler(module) == "gpu" if target is None else isinstance(parse_target(target), Gpu)
    target = target if target is not None else guess_target(module)
    allocation = Allocation(target)
    schedule = schedule_module(module)
    leaves = share_buffers(schedule)
    assigned = assign_memory(module, schedule, leaves, allocation) if is_gpu and schedule.is_given else None
    buffers = assign_buffers(module, schedule, allocation, leaves)
    if is_gpu:
        # They are in the code, which the compiler does not count.
        buffers = tuple(buffer for buffer in buffers if not buffer.is_constant)
    temporaries: dict[int, list[Buffer]] = {0: []}
    for buffer in buffers:
        if buffer.is_temporary:
            temporaries.setdefault(buffer.memory_space, []).append(buffer)
    peaks = {space: _highest(_held(temporaries[space])) for space in sorted(temporaries)}
    if assigned is not None:
        peaks[0] = assigned, peaks[0][1]
    counted = {space: _counted(temporaries[space]) if space else peaks[0][0] for space in peaks}
    parameters, results = module.entry_layout
    if is_gpu:
        # The GPU compiler writes the memory space of a parameter there only.
        parameters = tuple(each.shape for each in module.entry.parameters)
    aliased = [parameters[number].at(path) for _, number, path in module.aliases]
    tables = list(chain.from_iterable(map(table_bytes, results)))
    return MemoryUsage(
        allocation,
        schedule,
        buffers,
        argument_bytes=_total(parameters, allocation),
        output_bytes=_total(results, allocation) + (sum(tables) if is_gpu else len(tables) * allocation.granule),
        alias_bytes=_total(aliased, allocation),
        temporary_bytes=peaks[0][0],
        peak_time=peaks[0][1],
        peak_by_space={space: size for space, (size, _) in peaks.items()},
        counted_by_space=counted,
        host_bytes=_total([*parameters, *results], allocation, on_host=True)
        - _total(aliased, allocation, on_host=True),
        at_peak=_live_at(buffers, peaks[0][1]),
        is_gpu=is_gpu,
    )


def _live_at(buffers: Sequence[Buffer], time: int) -> tuple[Buffer, ...]:
    """Returns the buffers in main memory at a time, arguments and outputs always, the largest first."""
    main = (buffer for buffer in buffers if buffer.memory_space == 0)
    live = [buffer for buffer in main if not buffer.is_temporary or buffer.lives_at(time)]
    return tuple(sorted(live, key=lambda buffer: -buffer.bytes_held))


def _held(buffers: Iterable[Buffer]) -> Iterator[_Held]:
    for buffer in buffers:
        for start, end in buffer.spans:
            yield start, end, buffer.bytes_held


def _highest(held: Iterable[_Held]) -> tuple[int, int]:
    """Returns the maximum of bytes that live at one time, and the first such time."""
    change: defaultdict[int, int] = defaultdict(int)
    for start, end, size in held:
        change[start] += size
        change[end + 1] -= size
    most = now = at = 0
    for time in sorted(change):
        now += change[time]
        if now > most:
            most, at = now, time
    return most, at


def _counted(buffers: Sequence[Buffer]) -> int:
    """Returns the maximum of bytes at one time as the compiler counts a memory space in which it places values itself.

    The compiler counts values there, not buffers (xla/service/memory_space_assignment,
    VerifyAndExportHeapSimulatorTrace): a value and the value written over it are both live at that time.
    """
    twice = ((time, time, buffer.bytes_held) for buffer in buffers for time in buffer.overwritten)
    return _highest(chain(_held(buffers), twice))[0]


def _total(shapes: Sequence[Shape], allocation: Allocation, *, on_host: bool = False) -> int:
    leaves = (leaf for shape in shapes for leaf in shape.arrays())
    return sum(allocation.held(leaf) for leaf in leaves if is_on_host(leaf) == on_host)
