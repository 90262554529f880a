"""Modules that make proofs take long, and a campaign that measures by how much a proof exceeds its time limit.

`python -m tests.hostile.proofs [COUNT [SECONDS]]` looks for proofs of COUNT pairs, with a limit of SECONDS each, and
ends with 1 if one takes more than a second of CPU time beyond the limit.
"""

from __future__ import annotations

import os
import random
import resource
import sys
import time
from collections.abc import Callable, Iterator
from itertools import count

from dialect_utils.io.files import parse_bytes
from dialect_utils.verdict import Options, compare_modules

_COUNT, _SECONDS, _SEED = 200, 2.0, 17
_BEYOND = 1.0
_PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23)
_MOST_MEMORY = 6 << 30

Pair = tuple[str, str]


def _module(body: str, parameters: str, root: str, functions: str = "") -> str:
    return f"HloModule m\n{functions}ENTRY e {{\n{parameters}{body}{root}}}\n"


def _shuffled(chance: random.Random, items: list[int]) -> list[int]:
    return chance.sample(items, len(items))


def reshapes(chance: random.Random) -> Pair:
    """Returns reshapes of coprime dimensions, each after a transpose."""
    primes = list(_PRIMES[: chance.choice((5, 6, 7, 8))])
    total = 1
    for each in primes:
        total *= each
    length = chance.choice((3, 8, 30, 60))

    def chain(seed: int) -> str:
        own, body, value = random.Random(seed), "", "p"
        for i in range(length):
            first, order = _shuffled(own, primes), _shuffled(own, list(range(len(primes))))
            second = [first[k] for k in order]
            body += f"  a{i} = f32[{','.join(map(str, first))}] reshape({value})\n"
            moved = f"transpose(a{i}), dimensions={{{','.join(map(str, order))}}}"
            body += f"  t{i} = f32[{','.join(map(str, second))}] {moved}\n"
            value = f"t{i}"
        return _module(body, f"  p = f32[{total}] parameter(0)\n", f"  ROOT r = f32[{total}] reshape({value})\n")

    seed = chance.randrange(1 << 30)
    return chain(seed), chain(seed + chance.randrange(2))


def pads(chance: random.Random) -> Pair:
    """Returns pads with gaps and strided slices of odd sizes, in different orders."""

    def chain(seed: int) -> str:
        own, body, value = random.Random(seed), "  z = f32[] constant(0)\n", "p"
        size = [101, 103]
        for i in range(own.choice((4, 9, 20))):
            gap, low = own.randrange(4), own.randrange(5)
            size = [(n - 1) * (gap + 1) + 1 + low for n in size]
            text = f"{low}_0_{gap}"
            body += f"  a{i} = f32[{size[0]},{size[1]}] pad({value}, z), padding={text}x{text}\n"
            stride = own.choice((1, 2, 3, 7))
            limits = size
            size = [max(1, (n + stride - 1) // stride) for n in limits]
            cut = ", ".join(f"[0:{n}:{stride}]" for n in limits)
            body += f"  cut{i} = f32[{size[0]},{size[1]}] slice(a{i}), slice={{{cut}}}\n"
            size = size[::-1]
            body += f"  t{i} = f32[{size[0]},{size[1]}] transpose(cut{i}), dimensions={{1,0}}\n"
            value = f"t{i}"
        return _module(
            body, "  p = f32[101,103] parameter(0)\n", f"  ROOT r = f32[{size[0]},{size[1]}] copy({value})\n"
        )

    seed = chance.randrange(1 << 30)
    return chain(seed), chain(seed)


def additions(chance: random.Random) -> Pair:
    """Returns a nested chain of an elementwise operation, and the same with the operands exchanged."""
    kind, opcode = chance.choice(("f32", "s32", "pred")), chance.choice(("add", "multiply", "maximum"))
    opcode = chance.choice(("and", "or")) if kind == "pred" else opcode
    depth, size = chance.choice((100, 900, 3000)), chance.choice((4, 1000))
    sources = [f"p{i}" for i in range(chance.choice((1, 3, 40)))]
    parameters = "".join(f"  {p} = {kind}[{size}] parameter({i})\n" for i, p in enumerate(sources))

    def chain(exchanges: bool) -> str:
        body, value = "", sources[0]
        for i in range(depth):
            operands = (value, sources[i % len(sources)])
            operands = operands[::-1] if exchanges else operands
            body += f"  a{i} = {kind}[{size}] {opcode}({', '.join(operands)})\n"
            value = f"a{i}"
        return _module(body, parameters, f"  ROOT r = {kind}[{size}] copy({value})\n")

    return chain(False), chain(True)


def powers(chance: random.Random) -> Pair:
    """Returns products of sums, whose expansion has exponentially many terms."""
    kind, depth = chance.choice(("s32", "u8", "f32")), chance.choice((6, 14, 40))
    size = chance.choice((4, 64))
    parameters = "".join(f"  p{i} = {kind}[{size}] parameter({i})\n" for i in range(8))

    def chain(exchanges: bool) -> str:
        body, value = "", "p0"
        for i in range(depth):
            first, second = (f"p{(i + 1) % 8}", value)[:: -1 if exchanges else 1]
            body += f"  m{i} = {kind}[{size}] add({first}, {second})\n"
            body += f"  a{i} = {kind}[{size}] multiply(m{i}, {value if i % 2 else 'm' + str(i)})\n"
            value = f"a{i}"
        return _module(body, parameters, f"  ROOT r = {kind}[{size}] copy({value})\n")

    return chain(False), chain(True)


def selections(chance: random.Random) -> Pair:
    """Returns a ladder of choices by different predicates."""
    depth, size = chance.choice((8, 20, 200)), chance.choice((4, 300))
    parameters = f"  p = f32[{size}] parameter(0)\n  q = f32[{size}] parameter(1)\n"
    parameters += "".join(f"  k{i} = pred[{size}] parameter({i + 2})\n" for i in range(depth))

    def chain(negates: bool) -> str:
        body, value = "", "p"
        for i in range(depth):
            if negates:
                body += f"  n{i} = pred[{size}] not(k{i})\n  a{i} = f32[{size}] select(n{i}, q, {value})\n"
            else:
                body += f"  a{i} = f32[{size}] select(k{i}, {value}, q)\n"
            body += f"  b{i} = f32[{size}] add(a{i}, q)\n"
            value = f"b{i}"
        return _module(body, parameters, f"  ROOT r = f32[{size}] copy({value})\n")

    return chain(False), chain(True)


def outputs(chance: random.Random) -> Pair:
    """Returns thousands of outputs, each of which is another sum."""
    number, size = chance.choice((300, 2000)), chance.choice((4, 4096))

    def chain(exchanges: bool) -> str:
        body, names = "", []
        for i in range(number):
            pair = (f"p, x{i - 1}" if i else "p, p") if not exchanges else (f"x{i - 1}, p" if i else "p, p")
            body += f"  x{i} = f32[{size}] {('add', 'multiply')[i % 2]}({pair})\n"
            names.append(f"x{i}")
        shape = ", ".join([f"f32[{size}]"] * number)
        return _module(body, f"  p = f32[{size}] parameter(0)\n", f"  ROOT r = ({shape}) tuple({', '.join(names)})\n")

    return chain(False), chain(True)


def concatenations(chance: random.Random) -> Pair:
    """Returns a concatenation of many slices in place of the array, once or nested."""
    number, width = chance.choice((50, 400, 1500)), chance.choice((1, 7, 100))
    total = number * width
    cut = "".join(
        f"  cut{i} = f32[{width}] slice(p), slice={{[{i * width}:{(i + 1) * width}]}}\n" for i in range(number)
    )
    names = ", ".join(f"cut{i}" for i in range(number))
    parameter = f"  p = f32[{total}] parameter(0)\n"
    flat = _module(cut, parameter, f"  ROOT r = f32[{total}] concatenate({names}), dimensions={{0}}\n")
    body, value = cut, "cut0"
    for i in range(1, number):
        body += f"  k{i} = f32[{(i + 1) * width}] concatenate({value}, cut{i}), dimensions={{0}}\n"
        value = f"k{i}"
    nested = _module(body, parameter, f"  ROOT r = f32[{total}] copy({value})\n")
    straight = _module("", parameter, f"  ROOT r = f32[{total}] copy(p)\n")
    first, second = chance.sample((flat, nested, straight), 2)
    return first, second


def gathers(chance: random.Random) -> Pair:
    """Returns gathers by indices of an iota, one after the other."""
    size, depth = chance.choice((100, 5000, 200_000)), chance.choice((1, 5, 30))
    body, value = f"  i = s32[{size},1] iota(), iota_dimension=0\n", "p"
    for k in range(depth):
        body += (
            f"  g{k} = f32[{size},3] gather({value}, i), offset_dims={{1}}, collapsed_slice_dims={{0}}, "
            f"start_index_map={{0}}, index_vector_dim=1, slice_sizes={{1,3}}\n"
        )
        value = f"g{k}"
    parameter = f"  p = f32[{size},3] parameter(0)\n"
    return (
        _module(body, parameter, f"  ROOT r = f32[{size},3] copy({value})\n"),
        _module("", parameter, f"  ROOT r = f32[{size},3] copy(p)\n"),
    )


def _loops(depth: int, trips: int, operation: str) -> str:
    inner = f"  ROOT y = f32[4] {operation}\n"
    text = f"f0 {{\n  x = f32[4] parameter(0)\n{inner}}}\n"
    for level in range(1, depth + 1):
        state = "(s32[], f32[4])"
        text += f"""c{level} {{
  s = {state} parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant({trips})
  ROOT t = pred[] compare(i, n), direction=LT
}}
b{level} {{
  s = {state} parameter(0)
  i = s32[] get-tuple-element(s), index=0
  v = f32[4] get-tuple-element(s), index=1
  o = s32[] constant(1)
  j = s32[] add(i, o)
  w = f32[4] call(v), to_apply=f{level - 1}
  ROOT t = {state} tuple(j, w)
}}
f{level} {{
  x = f32[4] parameter(0)
  z = s32[] constant(0)
  s = {state} tuple(z, x)
  l = {state} while(s), condition=c{level}, body=b{level}
  ROOT y = f32[4] get-tuple-element(l), index=1
}}
"""
    return (
        f"HloModule m\n{text}ENTRY e {{\n  p = f32[4] parameter(0)\n  ROOT r = f32[4] call(p), to_apply=f{depth}\n}}\n"
    )


def loops(chance: random.Random) -> Pair:
    """Returns nested loops with few iterations each."""
    depth, trips = chance.choice((1, 2, 3, 5, 8)), chance.choice((2, 5, 16, 1000))
    return _loops(depth, trips, "add(x, x)"), _loops(depth, trips, chance.choice(("add(x, x)", "multiply(x, x)")))


def products(chance: random.Random) -> Pair:
    """Returns products of large matrices, compared over the reals."""
    size, depth = chance.choice((64, 512, 1500)), chance.choice((1, 4, 12))
    form = f"f32[{size},{size}]"

    def chain(transposes: bool) -> str:
        body, value = "", "p"
        for k in range(depth):
            if transposes:
                body += f"  d{k} = {form} dot({value}, q), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}\n"
            else:
                body += f"  up{k} = {form} dot(q, {value}), lhs_contracting_dims={{0}}, rhs_contracting_dims={{1}}\n"
                body += f"  d{k} = {form} transpose(up{k}), dimensions={{1,0}}\n"
            body += f"  e{k} = {form} add(d{k}, p)\n"
            value = f"e{k}"
        return _module(
            body, f"  p = {form} parameter(0)\n  q = {form} parameter(1)\n", f"  ROOT r = {form} copy({value})\n"
        )

    return chain(False), chain(True)


def slices(chance: random.Random) -> Pair:
    """Returns slices at indices that only the data tells, of one another."""
    size, depth = chance.choice((8, 60, 1000)), chance.choice((2, 6, 20))
    parameters = f"  p = f32[{size}] parameter(0)\n"
    parameters += "".join(f"  i{k} = s32[] parameter({k + 1})\n" for k in range(depth))

    def chain(twice: bool) -> str:
        body, value = "", "p"
        for k in range(depth):
            half = size // 2
            body += f"  d{k} = f32[{half}] dynamic-slice({value}, i{k}), dynamic_slice_sizes={{{half}}}\n"
            body += f"  up{k} = f32[{size}] dynamic-update-slice({value}, d{k}, i{(k + 1) % depth})\n"
            value = f"up{k}"
        end = f"  n = f32[{size}] negate({value})\n  ROOT r = f32[{size}] negate(n)\n"
        return _module(body, parameters, end if twice else f"  ROOT r = f32[{size}] copy({value})\n")

    return chain(False), chain(True)


def tiles(chance: random.Random) -> Pair:
    """Returns layouts with tiles of prime sizes, and bitcasts between them."""
    rows, columns = chance.choice((101, 1009)), chance.choice((103, 4099))
    tile = chance.choice(("T(7,13)", "T(7,13)(3,1)", "T(5,11)(2,1)", "T(17,19)"))
    other = chance.choice(("T(7,13)", "T(13,7)", "T(8,128)"))
    form = f"f32[{rows},{columns}]"
    parameter = f"  p = {form}{{1,0:{tile}}} parameter(0)\n"
    return (
        _module(f"  c = {form}{{0,1:{other}}} copy(p)\n", parameter, f"  ROOT r = {form}{{1,0:{tile}}} copy(c)\n"),
        _module("", parameter, f"  ROOT r = {form}{{1,0:{tile}}} copy(p)\n"),
    )


def windows(chance: random.Random) -> Pair:
    """Returns windows that sum long prefixes."""
    size = chance.choice((50, 400, 3000))
    add = "add {\n  x = f32[] parameter(0)\n  y = f32[] parameter(1)\n  ROOT s = f32[] add(x, y)\n}\n"
    parameter = f"  p = f32[{size}] parameter(0)\n  z = f32[] constant(0)\n"
    window = f"window={{size={size} pad={size - 1}_0}}, to_apply=add\n"
    first = _module("", parameter, f"  ROOT r = f32[{size}] reduce-window(p, z), {window}", add)
    body = f"  v = f32[{size}] reverse(p), dimensions={{0}}\n"
    body += f"  w = f32[{size}] reduce-window(v, z), window={{size={size} pad=0_{size - 1}}}, to_apply=add\n"
    return first, _module(body, parameter, f"  ROOT r = f32[{size}] reverse(w), dimensions={{0}}\n", add)


KINDS: tuple[Callable[[random.Random], Pair], ...] = (
    reshapes,
    pads,
    additions,
    powers,
    selections,
    outputs,
    concatenations,
    gathers,
    loops,
    products,
    slices,
    tiles,
    windows,
)


def pairs(seed: int = _SEED) -> Iterator[tuple[str, Pair]]:
    """Yields pairs of modules with the names of their kinds, for ever."""
    chance = random.Random(seed)
    for number in count():
        kind = KINDS[number % len(KINDS)]
        yield kind.__name__, kind(chance)


def _measured(pair: Pair, seconds: float) -> tuple[float, float, str]:
    """Returns the CPU seconds and megabytes that a comparison takes in a process of its own, and its verdict."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        said = "crash"
        try:
            resource.setrlimit(resource.RLIMIT_DATA, (_MOST_MEMORY, _MOST_MEMORY))
            first, last = [parse_bytes(text.encode(), "proof") for text in pair]
            start = time.process_time()
            options = Options(engines=("proof",), proof_seconds=seconds, field_seed=1)
            verdict = compare_modules(first, last, options)
            said = f"{time.process_time() - start} {verdict.verdict} {verdict.proof}"
        except BaseException as error:  # the parent prints it
            said = f"0 {type(error).__name__} {error}"
        finally:
            os.write(writing, said.replace("\n", " ")[:200].encode())
            os._exit(0)
    os.close(writing)
    with open(reading, "rb") as file:
        said = file.read().decode()
    _, _, usage = os.wait4(child, 0)
    took, _, verdict_text = said.partition(" ")
    return float(took or "nan"), usage.ru_maxrss / 1024, verdict_text


def main(number: float = _COUNT, seconds: float = _SECONDS) -> int:
    """Runs the campaign, prints each proof that takes too long, and returns the exit code."""
    late, worst = 0, 0.0
    for i, (kind, pair) in zip(range(int(number)), pairs(), strict=False):
        took, megabytes, said = _measured(pair, seconds)
        worst = max(worst, took)
        is_late = not took <= seconds + _BEYOND
        late += is_late
        if is_late or "-v" in sys.argv:
            print(f"{i} {kind}: {took:.2f} s, {megabytes:.0f} MB: {said}", flush=True)
    print(f"{number} proofs with a limit of {seconds} s: {late} take over {_BEYOND} s more, the longest {worst:.2f} s")
    return int(late > 0)


if __name__ == "__main__":
    sys.exit(main(*(float(each) for each in sys.argv[1:] if each != "-v")))
