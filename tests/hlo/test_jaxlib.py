"""XLA's own parser accepts edited modules and reads them as intended."""

from __future__ import annotations

import json
import subprocess
import sys

from dialect_utils.hlo import HloModule, parse_module
from dialect_utils.hlo.instruction import as_instruction
from dialect_utils.ir import Value
from dialect_utils.layout import ELEMENT_TYPES, ArrayShape, Pad, Transpose, parse_shape
from tests.hlo.texts import IN_TREE, MODULE, read

# XLA aborts the process on some input, so it reads in a process of its own.
WORKER = """
import json, sys
from jaxlib._hlo import HloPrintOptions, hlo_module_from_text
answers = []
for text in json.load(sys.stdin):
    try:
        answers.append([True, hlo_module_from_text(text).to_string(HloPrintOptions())])
    except Exception as error:
        answers.append([False, str(error)])
json.dump(answers, sys.stdout)
"""


def read_by_xla(texts: list[str]) -> list[tuple[bool, str]]:
    done = subprocess.run(
        [sys.executable, "-c", WORKER], input=json.dumps(texts), capture_output=True, text=True, check=True
    )
    return [(ok, text) for ok, text in json.loads(done.stdout)]


def edited(module: HloModule) -> HloModule:
    """Returns a copy in which every array of every computation goes through a transpose and a pad of nothing."""
    module = module.clone()
    for function in module.functions:
        for item in function.operations:
            shape = item.shape
            if not isinstance(shape, ArrayShape) or shape.rank < 2 or shape.dynamic or item.opcode == "bitcast":
                continue
            builder = module.after(item)
            turned = builder.apply(Transpose(tuple(range(shape.rank))), item, name=f"{item.name}.t", like=item)
            zero = builder.constant(shape.element_type, 0, name=f"{item.name}.zero", like=item)
            nothing = (0,) * shape.rank
            padded = builder.apply(Pad(nothing, nothing), turned, name=f"{item.name}.pad", like=item, padding=zero)
            back = builder.copy(padded, shape, name=f"{item.name}.back", like=item)
            item.replace_uses(back, keep=[as_instruction(turned)])
    return module


def test_xla_reads_edited_modules() -> None:
    paths = [path for path in IN_TREE if "tpu" in path.parts][::9] + [path for path in IN_TREE if "before" in path.name]
    texts = [read(path) for path in paths]
    before = read_by_xla(texts)
    after = read_by_xla([edited(parse_module(text, path.name)).text() for path, text in zip(paths, texts, strict=True)])
    assert sum(ok for ok, _ in before) > 5
    for path, (could_read, _), (can_read, message) in zip(paths, before, after, strict=True):
        assert can_read or not could_read, f"{path}: {message}"


def test_xla_rejects_a_wrong_text() -> None:
    ((ok, message),) = read_by_xla([MODULE.replace("negate(%z)", "negate(%missing)")])
    assert not ok
    assert "missing" in message


def test_xla_prints_what_we_print() -> None:
    module = parse_module(MODULE)
    module.entry.find("r").rename("sum")  # type: ignore[union-attr]
    module.computations[0].rename("plus.2")
    module.entry.find("x").set_shape(parse_shape("f32[3,5]{1,0:T(2,2)}"))  # type: ignore[union-attr]
    ((ok, text),) = read_by_xla([module.text()])
    assert ok
    # XLA drops comments and keeps everything else as we wrote it.
    ours = [line.split(" //")[0].split(" /*")[0] for line in module.text().splitlines()]
    theirs = [line for line in text.splitlines() if line]
    # It numbers names of other computations that repeat; these do not.
    assert sorted(line for line in ours if line) == sorted(theirs)


def test_xla_reads_our_literals_exactly() -> None:
    types = [t for name, t in ELEMENT_TYPES.items() if t.bits >= 8 and not t.is_complex]
    texts = []
    for element_type in types:
        module = parse_module(f"HloModule m\nENTRY e {{\n  p = {element_type}[] parameter(0)\n}}\n")
        builder = module.at_end(module.entry)
        p = module.entry.root
        last: Value = p
        for bits in (1, 3, (1 << element_type.bits) - 2, 1 << (element_type.bits - 2)):
            last = builder.constant(element_type, bits, name="c", like=p)
        module.entry.set_results([last])
        texts.append(module.text())
    for element_type, (ok, message) in zip(types, read_by_xla(texts), strict=True):
        assert ok, f"{element_type}: {message}"


def test_shapes_without_layouts_stay_without() -> None:
    module = parse_module("ENTRY e { p = f32[2,3] parameter(0) }")
    p = module.entry.root
    made = module.at_end(module.entry).apply(Transpose((1, 0)), p, name="t", like=p)
    assert made.shape == made.shape.without_layout
