"""Random gathers and scatters, each also in the form that compilers bring it into: a matrix of index vectors.

In that form the array's dimensions begin with the indexed ones, batching dimensions are counted by further indices, and
windows have all dimensions.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod

Dims = tuple[int, ...]


def listed(values: Sequence[int]) -> str:
    return "{" + ",".join(map(str, values)) + "}"


def inverse(order: Sequence[int]) -> list[int]:
    return sorted(range(len(order)), key=order.__getitem__)


@dataclass
class Program:
    """The lines of a computation; `combiner` is the computation that a scatter applies."""

    combiner: str = ""
    lines: list[str] = field(default_factory=list)
    dims: dict[str, Dims] = field(default_factory=dict)
    types: dict[str, str] = field(default_factory=dict)

    def op(self, kind: str, dims: Sequence[int], opcode: str, operands: Sequence[str], *attributes: str) -> str:
        name = f"v{len(self.lines)}"
        text = ", ".join([f"{opcode}({', '.join(operands)})", *attributes])
        self.lines.append(f"{name} = {kind}[{','.join(map(str, dims))}] {text}")
        self.dims[name], self.types[name] = tuple(dims), kind
        return name

    def parameter(self, kind: str, dims: Sequence[int], number: int) -> str:
        return self.op(kind, dims, "parameter", [str(number)])

    def reshape(self, x: str, dims: Sequence[int]) -> str:
        return self.op(self.types[x], dims, "reshape", [x])

    def transpose(self, x: str, order: Sequence[int]) -> str:
        dims = [self.dims[x][i] for i in order]
        return self.op(self.types[x], dims, "transpose", [x], f"dimensions={listed(order)}")

    def text(self) -> str:
        body = "\n  ".join([*self.lines[:-1], f"ROOT {self.lines[-1]}"])
        return f"HloModule m\n{self.combiner}\nENTRY e {{\n  {body}\n}}\n"


@dataclass(frozen=True)
class Case:
    """The dimension numbers of a gather or scatter; `windows` has a size for each dimension of the array."""

    array: Dims
    indices: Dims
    kind: str
    vector: int
    mapped: Dims
    gone: Dims
    batched: Dims
    joined: Dims
    windows: Dims
    # The dimensions of gathered slices or of updates that windows have.
    offsets: Dims

    @property
    def batch(self) -> list[int]:
        return [size for i, size in enumerate(self.indices) if i != self.vector]

    @property
    def kept(self) -> list[int]:
        return [i for i in range(len(self.array)) if i not in (*self.gone, *self.batched)]

    @property
    def order(self) -> list[int]:
        """Returns the dimensions of slices in [*batch, *windows] in the order of the slices."""
        others = [i for i in range(len(self.batch) + len(self.kept)) if i not in self.offsets]
        return inverse([*others, *self.offsets])

    @property
    def slices(self) -> Dims:
        sizes = [*self.batch, *(self.windows[i] for i in self.kept)]
        return tuple(sizes[i] for i in self.order)


def case(rng: random.Random, *, is_scatter: bool = False) -> Case:
    """Returns random dimension numbers."""
    rank = rng.randint(1, 4)
    array = tuple(rng.randint(1, 4) for _ in range(rank))
    shuffled = rng.sample(range(rank), rank)
    batched = tuple(sorted(shuffled[: rng.choice([0, 0, 1, 2])][: rank - 1]))
    free = [i for i in shuffled if i not in batched]
    mapped = tuple(free[: rng.randint(1, len(free))])
    windows = tuple(1 if i in batched or rng.random() < 0.4 else rng.randint(1, array[i]) for i in range(rank))
    gone = tuple(i for i in range(rank) if i not in batched and windows[i] == 1 and rng.random() < 0.6)
    lengths = [*(array[i] for i in batched), *(rng.randint(1, 3) for _ in range(rng.randint(0, 2)))]
    places = rng.sample(range(len(lengths)), len(lengths))
    batch = [lengths[i] for i in places]
    is_scalar = len(mapped) == 1 and rng.random() < 0.4
    vector = len(batch) if is_scalar else rng.randint(0, len(batch))
    indices = tuple(batch) if is_scalar else (*batch[:vector], len(mapped), *batch[vector:])
    at = [places.index(i) for i in range(len(batched))]
    joined = tuple(i + (not is_scalar and i >= vector) for i in at)
    kept = rank - len(gone) - len(batched)
    offsets = tuple(sorted(rng.sample(range(len(batch) + kept), kept)))
    kind = rng.choice(["s32", "s32", "s64", "u32", "s8", "u8"])
    return Case(array, indices, kind, vector, mapped, gone, batched, joined, windows, offsets)


def plain(found: Case, combiner: str = "") -> str:
    """Returns a gather, or with a combiner a scatter."""
    program = Program(combiner)
    x, at = program.parameter("s32", found.array, 0), program.parameter(found.kind, found.indices, 1)
    vector = f"index_vector_dim={found.vector}"
    if combiner:
        update = program.parameter("s32", found.slices, 2)
        program.op(
            "s32", found.array, "scatter", [x, at, update], f"update_window_dims={listed(found.offsets)}",
            f"inserted_window_dims={listed(found.gone)}", f"scatter_dims_to_operand_dims={listed(found.mapped)}",
            f"input_batching_dims={listed(found.batched)}", f"scatter_indices_batching_dims={listed(found.joined)}",
            vector, "to_apply=combine",
        )  # fmt: skip
    else:
        program.op(
            "s32", found.slices, "gather", [x, at], f"offset_dims={listed(found.offsets)}",
            f"collapsed_slice_dims={listed(found.gone)}", f"start_index_map={listed(found.mapped)}",
            f"operand_batching_dims={listed(found.batched)}", f"start_indices_batching_dims={listed(found.joined)}",
            vector, f"slice_sizes={listed(found.windows)}",
        )  # fmt: skip
    return program.text()


# Mistakes of a pass: each changes the form in one position.
MISTAKES = ("swapped columns", "next index", "truncated index", "another dimension is counted", "turned windows")


def normalized(found: Case, combiner: str = "", *, is_widened: bool = False, mistake: str = "") -> str:
    """Returns the same gather or scatter with a matrix of index vectors, or one with a mistake."""
    program = Program(combiner)
    x, at = program.parameter("s32", found.array, 0), program.parameter(found.kind, found.indices, 1)
    update = program.parameter("s32", found.slices, 2) if combiner else ""
    rows = _rows(program, found, at, is_widened, mistake)
    indexed = [*found.batched, *found.mapped]
    order = [*indexed, *(i for i in range(len(found.array)) if i not in indexed)]
    count, rank = prod(found.batch), len(order)
    turned, windows = program.transpose(x, order), [found.windows[i] for i in order]
    vector, mapped = "index_vector_dim=1", listed(range(len(indexed)))
    every = listed(range(1, rank + 1))
    kept = [found.windows[i] for i in found.kept]
    back = [1, 0] if mistake == "turned windows" and len(kept) > 1 and kept[0] == kept[1] else [0, 1]
    last = [i if i not in (0, 1) or len(kept) < 2 else back[i] for i in range(len(kept))]
    if combiner:
        first = program.transpose(update, inverse(found.order))
        first = program.transpose(first, [*range(len(found.batch)), *(len(found.batch) + i for i in last)])
        whole = program.reshape(first, [count, *found.windows])
        parts = program.transpose(whole, [0, *(1 + i for i in order)])
        made = program.op(
            "s32", program.dims[turned], "scatter", [turned, rows, parts], f"update_window_dims={every}",
            "inserted_window_dims={}", f"scatter_dims_to_operand_dims={mapped}", vector, "to_apply=combine",
        )  # fmt: skip
        program.transpose(made, inverse(order))
        return program.text()
    made = program.op(
        "s32", [count, *windows], "gather", [turned, rows], f"offset_dims={every}", "collapsed_slice_dims={}",
        f"start_index_map={mapped}", vector, f"slice_sizes={listed(windows)}",
    )  # fmt: skip
    made = program.transpose(made, [0, *(1 + i for i in inverse(order))])
    made = program.reshape(made, [*found.batch, *kept])
    made = program.transpose(made, [*range(len(found.batch)), *(len(found.batch) + i for i in last)])
    program.transpose(made, found.order)
    return program.text()


def _rows(program: Program, found: Case, at: str, is_widened: bool, mistake: str) -> str:
    """Returns the matrix of index vectors, [count, indexed dimensions]."""
    kind, rank = found.kind, len(found.indices)
    if is_widened:
        kind = "s64"
        at = program.op(kind, found.indices, "convert", [at])
    if mistake == "truncated index":
        narrow = program.op("s2" if found.kind.startswith("s") else "u2", found.indices, "convert", [at])
        at = program.op(kind, found.indices, "convert", [narrow])
    if mistake == "next index":
        one = program.op(kind, [], "constant", ["1"])
        at = program.op(
            kind, found.indices, "add", [at, program.op(kind, found.indices, "broadcast", [one], "dimensions={}")]
        )
    if found.vector == rank:
        at = program.reshape(at, [*found.indices, 1])
    at = program.transpose(at, [*(i for i in range(max(rank, found.vector + 1)) if i != found.vector), found.vector])
    columns = len(found.mapped)
    if mistake == "swapped columns" and columns > 1:
        at = program.op(kind, program.dims[at], "reverse", [at], f"dimensions={{{len(found.batch)}}}")
    counted = []
    for joined in found.joined:
        dimension = joined - (joined > found.vector)
        if mistake == "another dimension is counted":
            dimension = (dimension + 1) % len(found.batch)
        counted.append(program.op(kind, [*found.batch, 1], "iota", [], f"iota_dimension={dimension}"))
    if counted:
        dims = [*found.batch, columns + len(counted)]
        at = program.op(kind, dims, "concatenate", [*counted, at], f"dimensions={{{len(found.batch)}}}")
    return program.reshape(at, [prod(found.batch), columns + len(counted)])
