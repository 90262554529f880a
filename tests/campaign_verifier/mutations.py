"""Mutations of HLO texts at the level of tokens, attributes, lines, headers and computations."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tests.hostile.mutants import changed as changed_program
from tests.hostile.valid import BODIES, valid_module
from tests.paths import OWN_CORPUS, ROOT, SHARED_DATA

_LARGEST_FILE = 9000
_TOKEN = re.compile(r"\s+|//[^\n]*|/\*.*?\*/|\"(?:[^\"\\]|\\.)*\"|%?[A-Za-z_][\w.\-]*|-?\d[\w.]*|->|.", re.DOTALL)
_WORD = re.compile(r"%?[A-Za-z_][\w.\-]*")
_NUMBER = re.compile(r"-?\d[\w.]*")
_SHAPE = re.compile(r"\b[a-z]\w*\[[\d,<=? ]*\](?:\{[^{}]*\})?")
_DIMENSIONS = re.compile(r"(?<=\w)\[[\d,]*\]")
_LAYOUT = re.compile(r"(?<=\])\{[\d,]*(?=[:}])")
_ATTRIBUTE = re.compile(r", [a-z_\-]+=(?:\"(?:[^\"\\]|\\.)*\"|\{(?:[^{}]|\{[^{}]*\})*\}|\[[^\]]*\][^,\n]*|[^,\n{}]+)")
_SIGNATURE = re.compile(r"\([^\n]*?\) -> [^\n]*?(?= \{\n)")
_LINE = re.compile(r"^  \S.*\n", re.MULTILINE)
_COMPUTATION = re.compile(r"^(?:ENTRY )?%?[\w.\-]+ (?:\(.*\) -> .* )?\{\n(?:  .*\n)*\}\n*", re.MULTILINE)
_MODULE_LINE = re.compile(r"\AHloModule [\w.\-]+")
_NUMBERS = (
    "0",
    "1",
    "2",
    "3",
    "4",
    "5",
    "8",
    "16",
    "-1",
    "-2",
    "007",
    "1e2",
    "0.5",
    "4294967296",
    "9223372036854775807",
)
_TYPES = ("f32", "s32", "u32", "pred", "f16", "bf16", "f64", "s8", "u8", "s64", "c64", "u64", "s4", "f8e5m2", "token")
_SHAPES = (
    "token[]",
    "opaque[]",
    "()",
    "f32[]",
    "s32[]",
    "u32[]",
    "pred[]",
    "f32[0]",
    "(f32[2])",
    "f32[<=4]",
    "f32[2]{0:T(2)}",
)
_HEADER = (
    "is_scheduled=true",
    "is_scheduled=false",
    "replica_count=2",
    "num_partitions=2",
    "input_output_alias={ {}: (0, {}, may-alias) }",
    "input_output_alias={ {0}: (1, {}, must-alias) }",
    "input_output_alias={ {0}: (0, {0}), {1}: 0 }",
    "buffer_donor={ (0, {}) }",
    "buffer_donor={ (1, {0}) }",
    "entry_computation_layout={(f32[2]{0})->f32[2]{0}}",
    "entry_computation_layout={()->f32[]}",
    "alias_passthrough_params=true",
    "allow_spmd_sharding_propagation_to_parameters={true}",
    "allow_spmd_sharding_propagation_to_output={true,false}",
    'frontend_attributes={a="b"}',
    "frontend_attributes={}",
)

_IN_SIGNATURES = ("type", "dimensions", "token")

Mutation = Callable[[random.Random, str], str]


def _pieces(text: str) -> list[str]:
    return _TOKEN.findall(text)


def _one(pattern: re.Pattern[str], replacement: Mutation) -> Mutation:
    """Returns the mutation that replaces one occurrence of a pattern, chosen at random."""

    def mutation(chance: random.Random, text: str) -> str:
        found = list(pattern.finditer(text))
        if not found:
            return text
        match = chance.choice(found)
        return text[: match.start()] + replacement(chance, match[0]) + text[match.end() :]

    return mutation


def _moved(pattern: re.Pattern[str], *, keeps: bool = False) -> Mutation:
    """Returns the mutation that moves, or with `keeps` copies, one occurrence of a pattern behind another."""

    def mutation(chance: random.Random, text: str) -> str:
        found = list(pattern.finditer(text))
        if len(found) < 2:
            return text
        source, target = chance.sample(found, 2)
        parts = [text[: target.end()], source[0], text[target.end() :]]
        if keeps:
            return "".join(parts)
        rest = text[: source.start()] + text[source.end() :]
        end = target.end() - (len(source[0]) if source.start() < target.start() else 0)
        return rest[:end] + source[0] + rest[end:]

    return mutation


def _swapped(pattern: re.Pattern[str]) -> Mutation:
    """Returns the mutation that exchanges two occurrences of a pattern."""

    def mutation(chance: random.Random, text: str) -> str:
        found = list(pattern.finditer(text))
        if len(found) < 2:
            return text
        first, second = sorted(chance.sample(found, 2), key=re.Match.start)
        between = text[first.end() : second.start()]
        return text[: first.start()] + second[0] + between + first[0] + text[second.end() :]

    return mutation


def _token(chance: random.Random, text: str) -> str:
    """Drops, repeats or exchanges tokens."""
    pieces = _pieces(text)
    solid = [number for number, piece in enumerate(pieces) if not piece.isspace()]
    place, kind = chance.choice(solid), chance.randrange(3)
    if kind == 0:
        pieces[place] = ""
    elif kind == 1:
        pieces[place] *= 2
    else:
        other = chance.choice(solid)
        pieces[place], pieces[other] = pieces[other], pieces[place]
    return "".join(pieces)


def _dimension(chance: random.Random, text: str) -> str:
    sizes = [size for size in text[1:-1].split(",") if size]
    kind = chance.randrange(3)
    if kind == 0 or not sizes:
        sizes.insert(chance.randint(0, len(sizes)), chance.choice(("1", "2", "3")))
    elif kind == 1:
        sizes.pop(chance.randrange(len(sizes)))
    else:
        sizes[chance.randrange(len(sizes))] = chance.choice(("0", "1", "2", "3", "5", "7"))
    return f"[{','.join(sizes)}]"


def _header(chance: random.Random, text: str) -> str:
    found = _MODULE_LINE.search(text)
    return text if found is None else f"{found[0]}, {chance.choice(_HEADER)}{text[found.end() :]}"


def _type(chance: random.Random, text: str) -> str:
    return chance.choice(_TYPES) + text[text.index("[") :]


def _value(chance: random.Random, text: str) -> str:
    name, _, value = text.partition("=")
    choices = ("{}", "{0}", "{0,1}", "{1,0}", "{0,0}", "1", "-1", "true", "x", '"x"', f"{value} {value}")
    return f"{name}={chance.choice(choices)}"


def _without(chance: random.Random, text: str) -> str:
    return ""


MUTATIONS: dict[str, Mutation] = {
    "program": lambda chance, text: changed_program(text, chance),
    "number": _one(_NUMBER, lambda chance, _: chance.choice(_NUMBERS)),
    "token": _token,
    "words exchanged": _swapped(_WORD),
    "type": _one(_SHAPE, _type),
    "shape": _one(_SHAPE, lambda chance, _: chance.choice(_SHAPES)),
    "shapes exchanged": _swapped(_SHAPE),
    "dimensions": _one(_DIMENSIONS, _dimension),
    "layout": _one(_LAYOUT, lambda chance, _: chance.choice(("{0", "{1,0", "{0,1", "{2,1,0", "{", "{0,0"))),
    "attribute removed": _one(_ATTRIBUTE, _without),
    "attribute moved": _moved(_ATTRIBUTE),
    "attribute repeated": _moved(_ATTRIBUTE, keeps=True),
    "attribute value": _one(_ATTRIBUTE, _value),
    "signature": _one(_SIGNATURE, lambda chance, text: MUTATIONS[chance.choice(_IN_SIGNATURES)](chance, text)),
    "line removed": _one(_LINE, _without),
    "line moved": _moved(_LINE),
    "line repeated": _moved(_LINE, keeps=True),
    "lines exchanged": _swapped(_LINE),
    "computation removed": _one(_COMPUTATION, _without),
    "computation moved": _moved(_COMPUTATION),
    "computation repeated": _moved(_COMPUTATION, keeps=True),
    "header": _header,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Mutant:
    """A changed text, the valid one that it was made of, and the names of the mutations."""

    names: str
    original: str
    text: str


def mutants(seed: int) -> Iterator[Mutant]:
    """Yields changed texts, for ever."""
    chance, originals = random.Random(seed), seeds()
    names = list(MUTATIONS)
    while True:
        original = chance.choice(originals)
        name = chance.choice(names)
        text = MUTATIONS[name](chance, original)
        if chance.random() < 0.1:
            second = chance.choice(names)
            name, text = f"{name}, {second}", MUTATIONS[second](chance, text)
        if text != original:
            yield Mutant(name, original, text)


def seeds() -> list[str]:
    """Returns the modules of this tree, and XLA's own tests of its verifier where they are beside it."""
    files = [
        *sorted(OWN_CORPUS.rglob("*.hlo")),
        *sorted((ROOT / "examples").glob("*.hlo")),
        *sorted((ROOT / "lit_tests").rglob("*.hlo")),
    ]
    texts = [path.read_text() for path in files if path.stat().st_size < _LARGEST_FILE]
    texts += [valid_module(body) for body in BODIES.values()]
    tests = SHARED_DATA / "corpus" / "xla_tests" / "verifier.json"
    if tests.exists():
        texts += [case["text"] for case in json.loads(tests.read_text()) if case["expect"] == "accept"]
    return texts
