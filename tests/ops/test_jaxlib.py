"""The table of opcodes against what the installed jaxlib knows: its HLO parser and its MLIR bindings."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from functools import cache

import pytest

from dialect_utils.ops import GENERAL_ATTRIBUTES, HLO_NAMES, OPCODES, is_opcode, opcode_of
from dialect_utils.ops.table import HLO_OPCODES, OTHER_OPERATIONS

MOST_OPERANDS = 6
# XLA aborts the process on some of the questions: a child answers them in turn, and after an abort another goes on.
WORKER = """
import json, os, sys
from jaxlib._hlo import hlo_module_from_text

def answer(text):
    try:
        hlo_module_from_text(text)
        return "read"
    except Exception as error:
        return str(error)

def ask(texts):
    read, write = os.pipe()
    child = os.fork()
    if not child:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        for text in texts:
            os.write(write, json.dumps(answer(text)).encode() + b"\\n")
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as lines:
        found = [json.loads(line) for line in lines]
    os.waitpid(child, 0)
    return found

questions, found = json.load(sys.stdin), []
while len(found) < len(questions):
    found += ask(questions[len(found) :])
    if len(found) < len(questions):
        found.append("")  # what it ended on
json.dump(found, sys.stdout)
"""
BINDINGS = """
import importlib, json
names = []
for dialect in ("stablehlo", "chlo"):
    module = importlib.import_module(f"jaxlib.mlir.dialects._{dialect}_ops_gen")
    classes = [each for each in vars(module).values() if isinstance(each, type)]
    names += [each.OPERATION_NAME for each in classes if hasattr(each, "OPERATION_NAME")]
print(json.dumps(sorted(set(names))))
"""
# For these, operands or results decide before the parser reads attributes.
UNLISTED = {"async", "conditional", "tuple"}
# The parser takes any number of operands; other parts of XLA do not.
LENIENT = {"constant", "dot", "parameter", "ragged-dot", "rng-bit-generator", "convolution"}
STARTS = ("all-gather-start", "all-reduce-start", "collective-permute-start", "copy-start")
DONES = ("all-gather-done", "all-reduce-done", "collective-permute-done", "copy-done", "recv-done", "send-done")
# Attributes that only one of the two jaxlibs knows.
NEWER = {"has_dynamic_root", "order", "algorithm", "block_scaling_config", "sparsity_config", "is_stable"}
# Opcodes of an XLA that is newer than the jaxlib of these tests.
NEWER_OPCODES = {"collective-reduce"}


@cache
def answers() -> dict[str, list[str]]:
    """Returns XLA's answers to each opcode on 0 to MOST_OPERANDS operands with an attribute that does not exist."""
    names = sorted({*HLO_NAMES, *STARTS, *DONES, "planted"})
    questions = [question(name, count) for name in names for count in range(MOST_OPERANDS + 1)]
    done = subprocess.run(
        [sys.executable, "-c", WORKER], input=json.dumps(questions), capture_output=True, text=True, check=True
    )
    found = iter(json.loads(done.stdout))
    return {name: [next(found) for _ in range(MOST_OPERANDS + 1)] for name in names}


def question(name: str, count: int) -> str:
    parameters = "".join(f"  p{i} = f32[2] parameter({i})\n" for i in range(count))
    inside = {"parameter": "0", "constant": "1"}.get(name, ", ".join(f"p{i}" for i in range(count)))
    return f"HloModule m\nENTRY e {{\n{parameters}  ROOT r = f32[2] {name}({inside}), no_such_attribute=1\n}}\n"


def allowed(name: str) -> dict[int, set[str]]:
    """Returns the attributes that XLA lists, by the number of operands it takes."""
    found = ((count, re.search(r"Allowed attributes: ([^\n]*)", text)) for count, text in enumerate(answers()[name]))
    return {count: set(match[1].split(", ")) for count, match in found if match}


def test_the_parser_knows_every_opcode_and_no_other() -> None:
    unknown = {
        name
        for name in answers()
        if any("xpected opcode" in text or "nknown opcode" in text for text in answers()[name])
    }
    assert "planted" not in HLO_NAMES
    assert unknown - NEWER_OPCODES == {"planted", "async"}


@pytest.mark.parametrize("name", sorted({*HLO_NAMES, *STARTS, *DONES} - UNLISTED - NEWER_OPCODES))
def test_operand_counts_and_attributes_are_xlas(name: str) -> None:
    listed, known = allowed(name), opcode_of(name)
    assert listed, answers()[name]
    if name not in LENIENT:
        taken = [known.operand_count] if known.operand_count is not None else list(range(MOST_OPERANDS + 1))
        assert list(listed) == taken
    general = {attribute.name for attribute in GENERAL_ATTRIBUTES}
    theirs = next(iter(listed.values())) - general
    ours = {attribute.name for attribute in known.attributes} - general
    assert theirs - ours == set()
    assert ours - theirs <= NEWER


@pytest.mark.parametrize("name", ["abs", "while"])
def test_general_attributes_are_xlas(name: str) -> None:
    own = {attribute.name for attribute in opcode_of(name).attributes}
    (theirs,) = allowed(name).values()
    assert theirs - own == {attribute.name for attribute in GENERAL_ATTRIBUTES}


def test_the_bindings_list_the_operations_of_the_table() -> None:
    done = subprocess.run([sys.executable, "-c", BINDINGS], capture_output=True, text=True, check=True)
    theirs = set(json.loads(done.stdout))
    ours = {f"stablehlo.{mnemonic}" for each in HLO_OPCODES for mnemonic in each.mlir}
    ours |= {each.name for each in OTHER_OPERATIONS}
    # Asynchronous forms follow from their opcode.
    assert theirs - ours == {"stablehlo.async_start", "stablehlo.async_done"}
    # Newer than the oldest jaxlib that is supported.
    assert ours - theirs <= {"stablehlo.collective_reduce"}
    assert all(name in OPCODES or is_opcode(name) for name in ("async-start", "async-done"))
