"""Expressions over arrays, printed as HLO modules: what rewrites are written in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

COMPUTATIONS = ("add", "multiply", "maximum", "minimum", "and", "or", "subtract")


@dataclass(frozen=True, eq=False)
class E:
    """An array: an operation on others, or (opcode `parameter`, `constant`) a leaf."""

    opcode: str
    type: str
    dims: tuple[int, ...]
    operands: tuple[E, ...] = ()
    attributes: str = ""
    literal: str = ""

    def __add__(self, other: E) -> E:
        return binary("add", self, other)

    def __sub__(self, other: E) -> E:
        return binary("subtract", self, other)

    def __mul__(self, other: E) -> E:
        return binary("multiply", self, other)

    def __truediv__(self, other: E) -> E:
        return binary("divide", self, other)

    def __neg__(self) -> E:
        return unary("negate", self)

    @property
    def rank(self) -> int:
        return len(self.dims)


def parameter(number: int, kind: str, dims: Sequence[int] = ()) -> E:
    return E("parameter", kind, tuple(dims), literal=str(number))


def constant(kind: str, literal: object) -> E:
    return E("constant", kind, (), literal=str(literal))


def array(kind: str, dims: Sequence[int], values: Sequence[object]) -> E:
    """Returns a constant of rank 1, reshaped."""
    flat = E("constant", kind, (len(values),), literal="{" + ", ".join(map(str, values)) + "}")
    return reshape(flat, dims)


def unary(opcode: str, x: E) -> E:
    return E(opcode, x.type, x.dims, (x,))


def binary(opcode: str, x: E, y: E) -> E:
    return E(opcode, x.type, x.dims, (x, y))


def compare(direction: str, x: E, y: E) -> E:
    return E("compare", "pred", x.dims, (x, y), f"direction={direction}")


def select(p: E, x: E, y: E) -> E:
    return E("select", x.type, x.dims, (p, x, y))


def clamp(low: E, x: E, high: E) -> E:
    return E("clamp", x.type, x.dims, (low, x, high))


def convert(x: E, kind: str) -> E:
    return E("convert", kind, x.dims, (x,))


def broadcast(x: E, sizes: Sequence[int], dims: Sequence[int] = ()) -> E:
    return E("broadcast", x.type, tuple(sizes), (x,), f"dimensions={_set(dims)}")


def full(kind: str, literal: object, dims: Sequence[int]) -> E:
    """Returns a constant of any dimensions, all elements equal."""
    scalar = constant(kind, literal)
    return broadcast(scalar, dims) if dims else scalar


def transpose(x: E, permutation: Sequence[int]) -> E:
    return E("transpose", x.type, tuple(x.dims[i] for i in permutation), (x,), f"dimensions={_set(permutation)}")


def reshape(x: E, dims: Sequence[int]) -> E:
    return E("reshape", x.type, tuple(dims), (x,))


def reverse(x: E, dims: Sequence[int]) -> E:
    return E("reverse", x.type, x.dims, (x,), f"dimensions={_set(dims)}")


def iota(kind: str, dims: Sequence[int], dimension: int) -> E:
    return E("iota", kind, tuple(dims), attributes=f"iota_dimension={dimension}")


def concatenate(parts: Sequence[E], dimension: int) -> E:
    dims = list(parts[0].dims)
    dims[dimension] = sum(part.dims[dimension] for part in parts)
    return E("concatenate", parts[0].type, tuple(dims), tuple(parts), f"dimensions={{{dimension}}}")


def slice_(x: E, bounds: Sequence[tuple[int, int] | tuple[int, int, int]]) -> E:
    full_bounds = [(*bound, 1) if len(bound) == 2 else bound for bound in bounds]
    dims = tuple(-(-(b - a) // s) for a, b, s in full_bounds)
    text = ", ".join(f"[{a}:{b}:{s}]" for a, b, s in full_bounds)
    return E("slice", x.type, dims, (x,), f"slice={{{text}}}")


def pad(x: E, value: E, amounts: Sequence[tuple[int, int, int]]) -> E:
    dims = tuple(low + d + max(0, d - 1) * gap + high for d, (low, high, gap) in zip(x.dims, amounts, strict=True))
    text = "x".join(f"{low}_{high}_{gap}" for low, high, gap in amounts)
    return E("pad", x.type, dims, (x, value), f"padding={text}")


def dynamic_slice(x: E, starts: Sequence[E], sizes: Sequence[int]) -> E:
    return E("dynamic-slice", x.type, tuple(sizes), (x, *starts), f"dynamic_slice_sizes={_set(sizes)}")


def dynamic_update_slice(x: E, update: E, starts: Sequence[E]) -> E:
    return E("dynamic-update-slice", x.type, x.dims, (x, update, *starts))


def reduce(opcode: str, x: E, initial: E, dims: Sequence[int]) -> E:
    kept = tuple(size for i, size in enumerate(x.dims) if i not in dims)
    return E("reduce", x.type, kept, (x, initial), f"dimensions={_set(dims)}, to_apply={opcode}_{x.type}")


def dot(
    x: E, y: E, contract: tuple[Sequence[int], Sequence[int]], batch: tuple[Sequence[int], Sequence[int]] = ((), ())
) -> E:
    kept_x = [size for i, size in enumerate(x.dims) if i not in (*contract[0], *batch[0])]
    kept_y = [size for i, size in enumerate(y.dims) if i not in (*contract[1], *batch[1])]
    text = f"lhs_contracting_dims={_set(contract[0])}, rhs_contracting_dims={_set(contract[1])}"
    if batch[0]:
        text = f"lhs_batch_dims={_set(batch[0])}, rhs_batch_dims={_set(batch[1])}, {text}"
    return E("dot", x.type, (*(x.dims[i] for i in batch[0]), *kept_x, *kept_y), (x, y), text)


def convolution(x: E, y: E, dims: Sequence[int], window: str, numbers: str = "bf01_oi01->bf01") -> E:
    return E("convolution", x.type, tuple(dims), (x, y), f"window={{{window}}}, dim_labels={numbers}")


def gather_rows(x: E, indices: E) -> E:
    """Returns x[indices], rows of the first dimension by a list of indices."""
    rank = x.rank
    text = (
        f"offset_dims={_set(range(1, rank))}, collapsed_slice_dims={{0}}, start_index_map={{0}}, index_vector_dim=1, "
        f"slice_sizes={_set((1, *x.dims[1:]))}"
    )
    return E("gather", x.type, (*indices.dims, *x.dims[1:]), (x, indices), text)


def gather_elements(x: E, indices: E, order: Sequence[int]) -> E:
    """Returns elements of x by vectors of indices, which list the dimensions in an order."""
    text = (
        f"offset_dims={{}}, collapsed_slice_dims={_set(range(x.rank))}, start_index_map={_set(order)}, "
        f"index_vector_dim=1, slice_sizes={_set([1] * x.rank)}"
    )
    return E("gather", x.type, indices.dims[:1], (x, indices), text)


def _set(values: Sequence[int]) -> str:
    return "{" + ",".join(map(str, values)) + "}"


def parameters_of(*roots: E) -> list[E]:
    """Returns the parameters of several expressions, by their numbers."""
    found: dict[str, E] = {}
    pending, seen = list(roots), set()
    while pending:
        e = pending.pop()
        if e not in seen:
            seen.add(e)
            pending += e.operands
            if e.opcode == "parameter":
                found.setdefault(e.literal, e)
    return [found[number] for number in sorted(found, key=int)]


def module(*roots: E, parameters: Sequence[E] | None = None) -> str:
    """Prints a module that yields the roots; `parameters` may hold some that are not used."""
    lines: list[str] = []
    names: dict[E, str] = {}
    used: set[tuple[str, str]] = set()

    given = parameters_of(*roots) if parameters is None else list(parameters)

    def visit(e: E) -> str:
        if e in names:
            return names[e]
        operands = [visit(operand) for operand in e.operands]
        inside = e.literal if e.opcode == "constant" else ", ".join(operands)
        if e.opcode == "parameter":
            inside = str(given.index(e))
        names[e] = found = f"v{len(names)}"
        tail = f", {e.attributes}" if e.attributes else ""
        lines.append(f"  {found} = {_type(e)} {e.opcode}({inside}){tail}")
        if "to_apply=" in e.attributes:
            opcode, kind = e.attributes.rsplit("to_apply=", 1)[1].rsplit("_", 1)
            used.add((opcode, kind))
        return found

    for each in given:
        visit(each)
    parts = [visit(root) for root in roots]
    types = ", ".join(map(_type, roots))
    lines.append(f"  ROOT root = ({types}) tuple({', '.join(parts)})")
    heads = [
        f"{opcode}_{kind} {{\n  a = {kind}[] parameter(0)\n  b = {kind}[] parameter(1)\n"
        f"  ROOT c = {kind}[] {opcode}(a, b)\n}}"
        for opcode, kind in sorted(used)
    ]
    return "\n".join(["HloModule m", *heads, "ENTRY e {", *lines, "}", ""])


def _type(e: E) -> str:
    return f"{e.type}[{','.join(map(str, e.dims))}]"
