"""The lowering of a kernel to one computation: a loop over the grid that slices blocks and writes them back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

from dialect_utils.layout import ArrayShape, ElementType
from dialect_utils.mosaic.kernel import DYNAMIC, Kernel, KernelValue, Window
from dialect_utils.text import DiagnosticError
from passes.dumps.emitter import arrays
from passes.dumps.emitter.code import S32, Code, Program, Val, constant, index
from passes.dumps.mosaic.control_ops import is_short, loop
from passes.dumps.mosaic.frame import Context, Frame, Lowering, needed_ops
from passes.dumps.mosaic.memory import Buffer, Unwritten, WholeRef, poison, unwritten

_PARALLEL = "parallel"


@dataclass(frozen=True, slots=True)
class KernelCall:
    """A kernel with the shapes of a call, and the aliases: (result, operand that it starts as)."""

    kernel: Kernel
    operands: tuple[ArrayShape, ...]
    results: tuple[ArrayShape, ...]
    aliases: tuple[tuple[int, int], ...] = ()
    devices: int = 1
    unwritten: Unwritten = "zero"


@dataclass(frozen=True, slots=True)
class _Operand:
    """One windowed operand: the memory of the whole array, padded to whole blocks, and the window."""

    reference: KernelValue
    whole: Buffer
    window: Window
    shape: ArrayShape
    is_result: bool
    low: tuple[int, ...]

    @property
    def is_cut(self) -> bool:
        """Is true if a step sees only a block of the array."""
        return self.window.transform is not None


def lower_kernel(call: KernelCall, name: str, ops: Mapping[str, Lowering]) -> Program:
    """Returns the computations of a kernel; the one called `name` takes its operands and returns a tuple of results.

    Raises DiagnosticError for an op that cannot be lowered, with its location in the kernel's text.
    """
    return _Lowerer(call, name, ops).lower()


class _Lowerer:
    def __init__(self, call: KernelCall, name: str, ops: Mapping[str, Lowering]) -> None:
        self.call, self.kernel = call, call.kernel
        self.program = Program(name)
        self.code = Code(self.program, name)
        context = Context(self.kernel, ops, call.unwritten, call.devices)
        for function in self.kernel.functions.values():
            context.needed |= needed_ops(function.body, ops)
        self.frame = Frame(context, self.code, {}, {})
        # The scalars of a core with their initial contents, and its semaphores.
        self.scalars: list[tuple[Buffer, Val]] = []
        self.semaphores: list[Buffer] = []

    def lower(self) -> Program:
        parameters = [self.code.parameter(shape.element_type, shape.dimensions) for shape in self.call.operands]
        dynamic = sum(bound == DYNAMIC for bound in self.kernel.grid)
        found = len(self.call.operands) + len(self.call.results)
        wanted = dynamic + self.kernel.scalar_prefetch + len(self.kernel.windowed)
        if found != wanted:
            raise self._misfit(f"takes and returns {wanted} arrays, but its call {found}")
        bounds = iter(parameters[:dynamic])
        self.frame.context.grid_bounds = [
            arrays.reshape(self.code, next(bounds), ()) if bound == DYNAMIC else index(bound)
            for bound in self.kernel.grid
        ]
        for buffer in (self.frame.context.stuck, self.frame.context.barrier):
            self.frame.memory[buffer] = unwritten(buffer.kind, buffer.dims, "zero")
        operands = self._allocate(parameters[dynamic:], dynamic)
        self._run_grid(operands)
        self.code.finish([self._result(operand) for operand in operands if operand.is_result])
        return self.program

    def _allocate(self, parameters: Sequence[Val], dynamic: int) -> list[_Operand]:
        """Builds the memory of each reference: arrays of operands and results, and unwritten scratch."""
        kernel = self.kernel
        for reference, value in zip(kernel.references[: kernel.scalar_prefetch], parameters, strict=False):
            self._own(reference, value)
        inputs = parameters[kernel.scalar_prefetch :]
        windows = kernel.windows or (Window(),) * len(kernel.windowed)
        aliased = {
            result: operand - dynamic - kernel.scalar_prefetch
            for result, operand in self.call.aliases
            if operand >= dynamic + kernel.scalar_prefetch
        }
        shapes = (*self.call.operands[dynamic + kernel.scalar_prefetch :], *self.call.results)
        operands: list[_Operand] = []
        for position, (reference, window, shape) in enumerate(zip(kernel.windowed, windows, shapes, strict=True)):
            is_result = position >= len(inputs)
            # The operand whose contents the memory has at the start.
            origin = aliased.get(position - len(inputs)) if is_result else position
            first = None if origin is None else inputs[origin]
            alias = operands[origin] if is_result and origin is not None else None
            operands.append(self._operand(reference, window, shape, first, is_result, alias))
        for reference in kernel.references[len(kernel.references) - kernel.scratch :]:
            self._own(reference, None)
        return operands

    def _own(self, reference: KernelValue, value: Val | None) -> None:
        """Builds the memory of a reference without a window."""
        if reference.type.kind != "memref":
            raise self._misfit(f"takes {reference.type}, which is not a reference to memory")
        kind = self.frame.kind(reference, self.kernel.main.body.ops[-1])
        if value is not None:
            self._check_fits(reference, kind, value.kind, value.dims, reference.type.dimensions)
        buffer = Buffer(kind, reference.type.dimensions)
        how = "zero" if reference.type.is_semaphore else self.call.unwritten
        if value is None:
            contents = unwritten(kind, buffer.dims, how)
        else:
            contents = arrays.reshape(self.code, arrays.bitcast_convert(self.code, value, kind), buffer.dims)
        self.frame.memory[buffer] = contents
        self.frame.values[reference.number] = WholeRef(buffer)
        if reference.type.is_semaphore:
            self.semaphores.append(buffer)
        elif reference.type.memory_space == "smem":
            self.scalars.append((buffer, contents))

    def _check_fits(
        self, reference: KernelValue, kind: ElementType, given: ElementType, dims: Sequence[int], wanted: Sequence[int]
    ) -> None:
        if kind.bits != given.bits or prod(dims) != prod(wanted):
            raise self._misfit(f"takes {reference.type}, but its call has {given}[{','.join(map(str, dims))}]")

    def _misfit(self, what: str) -> DiagnosticError:
        return DiagnosticError(f"kernel {self.kernel.name} {what}")

    def _operand(
        self,
        reference: KernelValue,
        window: Window,
        shape: ArrayShape,
        first: Val | None,
        is_result: bool,
        alias: _Operand | None,
    ) -> _Operand:
        """Builds the memory of one array, padded so that every block is inside."""
        kind = self.frame.kind(reference, self.kernel.main.body.ops[-1])
        is_whole = window.transform is None
        if is_whole:
            window = replace(window, bounds=shape.dimensions)
        self._check_fits(reference, kind, shape.element_type, window.bounds, reference.type.dimensions)
        if len(window.bounds) != shape.rank or 0 in window.bounds:
            raise self._misfit(f"cuts {list(window.bounds)} out of {shape}")
        if is_whole and alias is not None and not alias.is_cut:
            # Both references are the same bytes of main memory.
            self.frame.values[reference.number] = WholeRef(alias.whole)
            return _Operand(reference, alias.whole, window, shape, True, alias.low)
        low, high = _padding(window, shape)
        dims = tuple(b + n + h for b, n, h in zip(low, shape.dimensions, high, strict=True))
        whole = Buffer(kind, dims)
        if first is None:
            contents = unwritten(kind, dims, self.call.unwritten)
        else:
            value = constant(kind, 0 if self.call.unwritten == "zero" else poison(kind))
            contents = arrays.pad(self.code, arrays.bitcast_convert(self.code, first, kind), value, low, high)
        self.frame.memory[whole] = contents
        operand = _Operand(reference, whole, window, shape, is_result, low)
        if not operand.is_cut:
            self.frame.values[reference.number] = WholeRef(whole)
        return operand

    def _run_grid(self, operands: Sequence[_Operand]) -> None:
        bounds = self.frame.context.grid_bounds
        static = [int(bound.known) for bound in bounds if bound.known is not None]
        if len(static) == len(bounds) and is_short(prod(static), self.kernel.op_count):
            for number in range(prod(static)):
                self._step(self.frame, operands, [index(i) for i in _indices(number, static)])
            return
        written = self._written(operands)
        restarted = [(buffer, first) for buffer, first in self.scalars if buffer in written]
        total = index(1)
        for bound in bounds:
            total = arrays.binary(self.code, "multiply", total, bound)

        def one_step(inner: Frame, state: list[Val]) -> list[Val]:
            count, *indices = state
            # The only index below a bound of 1 is 0.
            known = [index(0) if b.known == 1 else i for b, i in zip(bounds, indices, strict=True)]
            if self.semaphores and restarted and self.kernel.dimension_semantics[:1] == (_PARALLEL,):
                self._restart(inner, restarted, known)
            self._step(inner, operands, known)
            return [arrays.binary(inner.code, "add", count, index(1)), *_next(inner.code, indices, bounds)]

        def goes_on(inner: Frame, state: list[Val]) -> Val:
            return arrays.compare(inner.code, "LT", state[0], total)

        loop(self.frame, [index(0), *(index(0) for _ in bounds)], written, one_step, goes_on)

    def _restart(self, frame: Frame, scalars: Sequence[tuple[Buffer, Val]], indices: Sequence[Val]) -> None:
        """Resets scalars where another core may start: at each index of a parallel first dimension.

        A core waits for the copies of its own steps. A semaphore that is not 0 means a pending copy: the kernel then
        assumes a single core, and nothing is reset.
        """
        code = frame.code
        is_new = arrays.compare(code, "GT", indices[0], index(0))
        for each in indices[1:]:
            is_new = arrays.binary(code, "and", is_new, arrays.compare(code, "EQ", each, index(0)))
        for semaphore in self.semaphores:
            count = frame.memory[semaphore]
            if count.dims:
                count = arrays.reduce(code, "add", count, 0, range(len(count.dims)))
            is_new = arrays.binary(code, "and", is_new, arrays.compare(code, "EQ", count, index(0)))
        for buffer, first in scalars:
            frame.memory[buffer] = arrays.select(code, is_new, first, frame.memory[buffer])

    def _written(self, operands: Sequence[_Operand]) -> list[Buffer]:
        """Returns the memory that a step writes: by ops, or by writing result blocks back."""
        cut = [operand for operand in operands if operand.is_cut]
        probe = Frame(self.frame.context, self.code, dict(self.frame.values), {})
        probe.values.update((operand.reference.number, WholeRef(operand.whole)) for operand in cut)
        inputs = {operand.whole for operand in cut if not operand.is_result}
        found = [buffer for buffer in probe.written(self.kernel.main.body) if buffer not in inputs]
        return list(dict.fromkeys([*found, *(operand.whole for operand in cut if operand.is_result)]))

    def _step(self, frame: Frame, operands: Sequence[_Operand], indices: Sequence[Val]) -> None:
        """Lowers one step of the grid: reads blocks, runs the kernel's ops, writes blocks back."""
        arguments = self.kernel.main.body.arguments
        for argument, each in zip(arguments, indices, strict=False):
            frame.values[argument.number] = each
        starts = [(operand, self._start(frame, operand, indices)) for operand in operands if operand.is_cut]
        blocks = [(operand, start, self._cut(frame, operand, start)) for operand, start in starts]
        frame.run(self.kernel.main.body, [frame.values[argument.number] for argument in arguments])
        for operand, start, block in blocks:
            if operand.is_result:
                part = arrays.reshape(frame.code, frame.memory[block], operand.window.bounds)
                frame.memory[operand.whole] = arrays.update(frame.code, frame.memory[operand.whole], part, start)

    def _start(self, frame: Frame, operand: _Operand, indices: Sequence[Val]) -> list[Val]:
        """Returns the start indices of a step's block."""
        transform = self.kernel.functions[str(operand.window.transform)]
        prefetched = self.kernel.references[: self.kernel.scalar_prefetch]
        arguments = [*indices, *(frame.values[reference.number] for reference in prefetched)]
        found = frame.run(transform.body, arguments[: len(transform.body.arguments)])
        blocks = [arrays.convert(frame.code, value, S32) for value in found if isinstance(value, Val)]
        if len(blocks) != len(operand.shape.dimensions):
            message = f"kernel {self.kernel.name}: @{transform.name} gives {len(blocks)} indices into {operand.shape}"
            raise DiagnosticError(message)
        if operand.window.is_element:
            return blocks
        sizes = operand.window.bounds
        return [arrays.binary(frame.code, "multiply", b, index(size)) for b, size in zip(blocks, sizes, strict=True)]

    def _cut(self, frame: Frame, operand: _Operand, start: Sequence[Val]) -> Buffer:
        block = arrays.slice_dynamic(frame.code, frame.memory[operand.whole], start, operand.window.bounds)
        dims = operand.reference.type.dimensions
        buffer = Buffer(operand.whole.kind, dims)
        frame.memory[buffer] = arrays.reshape(frame.code, block, dims)
        frame.values[operand.reference.number] = WholeRef(buffer)
        return buffer

    def _result(self, operand: _Operand) -> Val:
        """Returns a result: the array without padding, or poison if the kernel is stuck."""
        code, shape = self.code, operand.shape
        value = arrays.slice_static(code, self.frame.memory[operand.whole], operand.low, shape.dimensions)
        stuck = self.frame.memory[self.frame.context.stuck]
        lost = constant(value.kind, poison(value.kind), value.dims)
        value = arrays.select(code, stuck, lost, value)
        return arrays.bitcast_convert(code, value, shape.element_type)


def _padding(window: Window, shape: ArrayShape) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Returns the padding below and above an array with which it contains every block."""
    rank = len(shape.dimensions)
    if window.is_element:
        low, high = window.padding if window.padding[0] else ((0,) * rank, (0,) * rank)
        sizes = [b + n + h for b, n, h in zip(low, shape.dimensions, high, strict=True)]
        more = [max(bound - size, 0) for bound, size in zip(window.bounds, sizes, strict=True)]
        return low, tuple(h + m for h, m in zip(high, more, strict=True))
    return (0,) * rank, tuple(-n % b for n, b in zip(shape.dimensions, window.bounds, strict=True))


def _indices(number: int, bounds: Sequence[int]) -> list[int]:
    """Returns the grid indices of a step; the last one is minor."""
    found = []
    for bound in reversed(bounds):
        number, last = divmod(number, bound)
        found.append(last)
    return found[::-1]


def _next(code: Code, indices: Sequence[Val], bounds: Sequence[Val]) -> list[Val]:
    """Returns the grid indices of the following step."""
    found: list[Val] = []
    carries: Val | None = None
    for each, bound in zip(reversed(indices), reversed(bounds), strict=True):
        following = arrays.binary(code, "add", each, index(1))
        wraps = arrays.compare(code, "GE", following, bound)
        moved = arrays.select(code, wraps, index(0), following)
        found.append(moved if carries is None else arrays.select(code, carries, moved, each))
        carries = wraps if carries is None else arrays.binary(code, "and", carries, wraps)
    return found[::-1]
