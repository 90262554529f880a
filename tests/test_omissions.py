"""Additions that are easy to forget elsewhere: a target, a field of a layout, an option, a pass, a rule.

Each check has a planted omission that it must find.
"""

from __future__ import annotations

import argparse
import ast
import dataclasses
import inspect
import json
import re
import subprocess
import sys
import types
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cache
from typing import Any, get_args

import pytest

from dialect_utils.layout import layout, parse_shape, shape
from dialect_utils.layout.element_type import parse_element_type
from dialect_utils.layout.layout import Layout, SplitConfig, Tile
from dialect_utils.layout.shape import ArrayShape, BufferShape, TupleShape
from dialect_utils.layout.targets.known import TARGETS, TargetName, TpuName, parse_target
from dialect_utils.layout.targets.tpu import TPUS
from dialect_utils.ops import HLO_NAMES, Attribute, attributes_of, hlo_opcode, opcode_of
from dialect_utils.text import DiagnosticError
from dialect_utils.verdict.rules import try_rule
from dialect_utils.verdict.rules.index import is_commutative_law
from dialect_utils.verdict.terms import labels
from docs_site.pages import generated_pages
from passes.framework.base import BUILTIN_PASSES
from passes.layouts import annotate_layouts
from relayout import cli
from relayout.command import Command
from relayout.pipelines import describe_pass
from tests.campaign_labels import ADDED
from tests.paths import ROOT
from tests.syntax import statements
from tests.test_architecture import modules
from tests.verdict.proof.dialects import hlo

PAGES = [*sorted((ROOT / "docs").rglob("*.md")), ROOT / "README.md"]


@cache
def sources() -> dict[str, str]:
    """Returns the code of every module of the product."""
    return {name: file.read_text("utf-8") for name, file in modules()}


# Targets

_TPUS = [each.name for each in TPUS]
_TARGET = re.compile(r"tpu(?:-v)?\d\w*\Z")
_QUOTED_TARGET = re.compile(r"[\"']tpu")
_RANGE = re.compile(r"\b(?:tpu-)?(v\d\w*) to (?:tpu-)?(v\d\w*|tpu\d\w*)")
# Fewer names than this are an example, not a list.
_LIST = 3


def target_lists(code: str) -> Iterator[set[str]]:
    """Yields the targets of each collection of constants that lists them."""
    if not _QUOTED_TARGET.search(code):
        return
    for node in ast.walk(ast.parse(code)):
        parts = node.keys if isinstance(node, ast.Dict) else getattr(node, "elts", ())
        flat = [leaf for part in parts for leaf in (getattr(part, "elts", ())[:1] or [part])]
        values = {leaf.value for leaf in flat if isinstance(leaf, ast.Constant) and isinstance(leaf.value, str)}
        names = {value for value in values if _TARGET.match(value)}
        if len(names) >= _LIST:
            yield names


def incomplete_lists(codes: Mapping[str, str], known: Collection[str]) -> list[str]:
    return [name for name, code in codes.items() for found in target_lists(code) if found != set(known)]


def wrong_ranges(text: str, known: Collection[str]) -> list[str]:
    """Returns the ranges such as `v2 to tpu7x` that do not end with the newest target."""
    return [found[0] for found in _RANGE.finditer(text) if found[2] != [*known][-1].replace("tpu-", "")]


def test_every_list_of_targets_is_complete() -> None:
    codes = sources()
    assert incomplete_lists(codes, _TPUS) == []
    assert {name for name, code in codes.items() if any(target_lists(code))} == {
        "dialect_utils.layout.targets.known",
        "dialect_utils.layout.targets.tpu",
    }
    assert tuple(TARGETS) == get_args(TargetName)
    assert tuple(each.name for each in TPUS) == get_args(TpuName)
    assert get_args(get_args(annotate_layouts.Target)[0]) == ("row-major", *TARGETS)


def test_help_lists_every_target(capsys: pytest.CaptureFixture[str]) -> None:
    assert [name for name in TARGETS if name not in describe_pass("annotate-layouts")] == []
    assert cli.main(["opt", "--list-passes"]) == 0
    listed = capsys.readouterr().out
    assert [name for name in TARGETS if name not in listed] == []
    with pytest.raises(DiagnosticError) as error:
        parse_target("gpu")
    files = "files that describe a GPU (*.txtpb) or another chip (*.toml)"
    assert error.value.diagnostics[0].hint == f"known targets: {', '.join(TARGETS)}, and {files}"


def test_pages_name_the_newest_target() -> None:
    texts = [page.read_text("utf-8") for page in (*PAGES, ROOT / "CHANGELOG.md")]
    assert [found for text in (*texts, *sources().values()) for found in wrong_ranges(text, _TPUS)] == []
    assert any(_RANGE.search(text) for text in texts)


def test_a_planted_target_is_missing_from_every_list() -> None:
    known = [*_TPUS, "tpu8x"]
    assert len(incomplete_lists(sources(), known)) == 2  # one of them is the type of an option
    assert wrong_ranges("layouts for v2 to tpu7x, v4 to tpu8x", known) == ["v2 to tpu7x"]
    assert incomplete_lists({"m": 'A = {"tpu-v2": 1, "tpu-v3": 2, "tpu-v4": 3}'}, _TPUS) == ["m"]


# Fields of layouts and shapes

U32, F32 = parse_element_type("u32"), parse_element_type("f32")
# An example of each class: its text, and for each field another value.
SAMPLES: dict[type, tuple[str, dict[str, object]]] = {
    Layout: (
        "f32[3,5]{1,0:T(2,2)}",
        {
            "minor_to_major": (0, 1),
            "tiles": (Tile((2, 4)),),
            "tail_padding_alignment_in_elements": 4,
            "index_primitive_type": U32,
            "pointer_primitive_type": U32,
            "element_size_in_bits": 4,
            "memory_space": 1,
            "split_configs": (SplitConfig(1, (2,)),),
            "dynamic_shape_metadata_prefix_bytes": 8,
        },
    ),
    Tile: ("f32[3,5]{1,0:T(2,2)}", {"dimensions": (4, 2)}),
    SplitConfig: ("f32[3,5]{1,0:SC(0:1)}", {"dimension": 1, "split_indices": (1, 2)}),
    ArrayShape: (
        "f32[3,5]{1,0:T(2,2)}",
        {
            "element_type": U32,
            "dimensions": (4, 5),
            "layout": Layout((0, 1)),
            "dynamic": (True, False),
        },
    ),
    TupleShape: ("(f32[3], token[])", {"elements": (ArrayShape(F32, (3,)),)}),
    BufferShape: ("b(f32[3])", {"array": ArrayShape(F32, (4,))}),
}
# Fields of LayoutProto that XLA does not print.
WITHOUT_TEXT: dict[type, tuple[str, ...]] = {Layout: ("padded_dimensions", "padding_value")}
# The part of the parsed shape that is an example of a class.
PARTS: dict[type, Callable[[Any], object]] = {
    Layout: lambda found: found.layout,
    Tile: lambda found: found.layout.tiles[0],
    SplitConfig: lambda found: found.layout.split_configs[0],
}


def value_classes(module: types.ModuleType) -> list[type]:
    """Returns the dataclasses with fields that a module defines."""
    own = [each for each in vars(module).values() if isinstance(each, type) and each.__module__ == module.__name__]
    return [each for each in own if dataclasses.is_dataclass(each) and dataclasses.fields(each)]


def fields_without_sample(kind: type, samples: Mapping[str, object], without: Collection[str] = ()) -> set[str]:
    return {field.name for field in dataclasses.fields(kind)} - samples.keys() - {*without}


def replaced(whole: Any, kind: type, **changes: object) -> Any:
    """Returns a shape in which the part of a class has other fields."""
    if kind not in PARTS:
        return dataclasses.replace(whole, **changes)
    part = dataclasses.replace(PARTS[kind](whole), **changes)  # type: ignore[type-var]  # parts are dataclasses
    field = {Tile: "tiles", SplitConfig: "split_configs"}.get(kind)
    new = part if field is None else dataclasses.replace(whole.layout, **{field: (part,)})
    return dataclasses.replace(whole, layout=new)


def is_printed_and_read(before: object, after: object) -> bool:
    return str(before) != str(after) and parse_shape(str(after)) == after


@pytest.mark.parametrize("kind", [*value_classes(layout), *value_classes(shape)])
def test_every_field_of_a_layout_or_shape_has_a_sample(kind: type) -> None:
    assert fields_without_sample(kind, SAMPLES[kind][1], WITHOUT_TEXT.get(kind, ())) == set()


@pytest.mark.parametrize(("kind", "field"), [(kind, field) for kind in SAMPLES for field in SAMPLES[kind][1]])
def test_a_field_of_a_layout_or_shape_is_printed_and_read(kind: type, field: str) -> None:
    text, samples = SAMPLES[kind]
    whole = parse_shape(text)
    assert is_printed_and_read(whole, replaced(whole, kind, **{field: samples[field]}))


def test_fields_without_text_are_the_legacy_ones() -> None:
    whole = parse_shape("f32[3]{0}")
    for field, value in (("padded_dimensions", (4,)), ("padding_value", 1.0)):
        assert str(replaced(whole, Layout, **{field: value})) == str(whole)


def test_a_planted_field_is_noticed() -> None:
    planted = dataclasses.make_dataclass("Planted", [("alignment", int, 0)], bases=(Layout,), frozen=True)
    assert fields_without_sample(planted, SAMPLES[Layout][1], WITHOUT_TEXT[Layout]) == {"alignment"}
    assert not is_printed_and_read(planted((1, 0)), planted((1, 0), alignment=8))


# Options of commands

# Read in the arguments before they are parsed, or an action of argparse.
READ_AS_TEXT = {"color": "--color", "traceback": "--traceback", "version": "--version"}


def undocumented(actions: Collection[argparse.Action], pages: Collection[str]) -> list[str]:
    """Returns the options without help, and those of which no name is on a page."""
    return [
        action.option_strings[-1]
        for action in actions
        if action.option_strings and not (action.help and any(_is_on(page, action.option_strings) for page in pages))
    ]


def _is_on(page: str, names: Collection[str]) -> bool:
    return any(re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", page) for name in names)


# The names of a command and of its groups of options, where code reads an option of them.
OWNERS = {
    "self",
    "command",
    "options",
    "named",
    *(name for name, _ in inspect.getmembers(Command, dataclasses.is_dataclass)),
}
OWNERS |= {"pipeline", "comparison", "compilation", "selection"}


@cache
def read_options(code: str) -> set[str]:
    """Returns the attributes that code reads of commands and of groups of options, and of their values by name."""
    nodes = list(ast.walk(ast.parse(code)))
    found = {
        node.attr
        for node in nodes
        if isinstance(node, ast.Attribute)
        and isinstance(node.ctx, ast.Load)
        and getattr(node.value, "id", getattr(node.value, "attr", "")) in OWNERS
    }
    calls = (node for node in nodes if isinstance(node, ast.Call) and node.args)
    return found | {
        call.args[0].value
        for call in calls
        if ast.unparse(call.func) == "values.get"
        and isinstance(call.args[0], ast.Constant)
        and isinstance(call.args[0].value, str)
    }


def unread(command: str, actions: Collection[argparse.Action], codes: Mapping[str, str]) -> set[str]:
    """Returns the options that neither the command nor a module of several commands reads."""
    folder = "relayout.commands."
    shared = [code for name, code in codes.items() if name.startswith("relayout") and not name.startswith(folder)]
    found = {name for code in (*shared, codes[folder + command]) for name in read_options(code)}
    return {action.dest for action in actions} - found - READ_AS_TEXT.keys() - cli.FORMS.keys()


@pytest.mark.parametrize("command", cli.COMMANDS)
def test_every_option_is_on_a_page_and_read(command: str) -> None:
    actions = cli.parser_of(command).added
    assert undocumented(actions, [page.read_text("utf-8") for page in PAGES] + [generated_pages()["commands.md"]]) == []
    assert unread(command, actions, sources()) == set()


def test_options_that_are_read_as_text_are() -> None:
    code = (ROOT / "relayout" / "cli.py").read_text("utf-8")
    assert [text for text in READ_AS_TEXT.values() if f'"{text}"' not in code] == []


def test_a_planted_option_is_noticed() -> None:
    parser = argparse.ArgumentParser()
    planted = parser.add_argument("--planted-option", help="a")
    assert undocumented([planted], ["the --planted-options of others"]) == ["--planted-option"]
    assert undocumented([parser.add_argument("-x")], ["-x"]) == ["-x"]
    assert unread("index", [planted], sources()) == {"planted_option"}
    # An option that another command reads.
    assert unread("index", [parser.add_argument("--picture")], sources()) == {"picture"}
    read = "def f(command, b):\n    command.one\n    values.get('two')\n    command.three = 1\n    b.four"
    assert read_options(read) == {"one", "two"}


# Passes


def declared_passes(codes: Mapping[str, str]) -> dict[str, str]:
    """Returns the module of each function below @module_pass, by the name of the pass."""
    return {
        node.name.replace("_", "-"): name
        for name, code in codes.items()
        if name.startswith("passes.")
        for node in ast.parse(code).body
        if isinstance(node, ast.FunctionDef)
        and any(ast.unparse(decorator).partition("(")[0].endswith("module_pass") for decorator in node.decorator_list)
    }


def test_every_declared_pass_is_registered() -> None:
    assert declared_passes(sources()) == BUILTIN_PASSES


def test_a_planted_pass_is_noticed() -> None:
    codes = {**sources(), "passes.dumps.drop_copies": "@module_pass\ndef drop_copies(module, report): ..."}
    assert declared_passes(codes).items() - BUILTIN_PASSES.items() == {("drop-copies", "passes.dumps.drop_copies")}


# Rules of proofs


def declared_rules(codes: Mapping[str, str]) -> dict[tuple[str, str], str]:
    """Returns the name of each rule by its module and its constant."""
    return {
        (name, target.id): value.args[0].value
        for name, code in codes.items()
        if name.startswith("dialect_utils.verdict") and "Rule(" in code
        for node in statements(code)
        if isinstance(node, ast.Assign)
        for target, value in [(node.targets[0], node.value)]
        if isinstance(target, ast.Name)
        and isinstance(value, ast.Call)
        and ast.unparse(value.func).endswith("Rule")
        and isinstance(value.args[0], ast.Constant)
        and isinstance(value.args[0].value, str)
    }


@cache
def used_constants(module: str, code: str) -> set[tuple[str, str]]:
    """Returns the constants that the functions of a module use, by the module that declares them."""
    tree = ast.parse(code)
    imported = {
        alias.asname or alias.name: (node.module or "", alias.name)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    inside = [node for each in ast.walk(tree) if isinstance(each, ast.FunctionDef) for node in ast.walk(each)]
    names = {node.id for node in inside if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    attributes = {
        (".".join(imported[node.value.id]), node.attr)
        for node in inside
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in imported
    }
    return {imported.get(name, (module, name)) for name in names} | attributes


def unused_rules(codes: Mapping[str, str]) -> set[str]:
    declared = declared_rules(codes)
    name_of_any = re.compile("|".join({name for _, name in declared}))
    # Code that uses a constant has its name.
    using = ((name, code) for name, code in codes.items() if name_of_any.search(code))
    used = {constant for name, code in using for constant in used_constants(name, code)}
    return {rule for constant, rule in declared.items() if constant not in used and not is_rewriting(rule)}


def is_rewriting(name: str) -> bool:
    """Is true where the prover looks an equation of a rule up by its operation."""
    rule = try_rule(name)
    equations = rule.equations if rule is not None else ()
    return any(equation.is_rewriting or is_commutative_law(equation) for equation in equations)


def test_every_rule_is_applied() -> None:
    assert declared_rules(sources())
    assert unused_rules(sources()) == set()


def test_every_rule_is_on_the_page_of_proofs() -> None:
    page = (ROOT / "docs" / "proofs.md").read_text("utf-8")
    assert {rule for rule in declared_rules(sources()).values() if f"`{rule}`" not in page} == set()


def test_a_planted_rule_is_noticed() -> None:
    codes = {
        "dialect_utils.verdict.a": 'ONE = Rule("one", "1.")\nTWO = Rule("two", "2.")\nTABLE = (TWO,)',
        "dialect_utils.verdict.b": "from dialect_utils.verdict.a import ONE, TWO\ndef f(terms):\n    terms.note(ONE)",
    }
    assert unused_rules(codes) == {"two"}


# Attributes of operations

# The classes of a module are its pieces: `inspect.getsource` would parse the whole of it for each.
BINDINGS = """
import importlib, json, re
found = {}
for dialect in ("stablehlo", "chlo"):
    module = importlib.import_module(f"jaxlib.mlir.dialects._{dialect}_ops_gen")
    with open(module.__file__, encoding="utf-8") as file:
        pieces = re.split("^class ", file.read(), flags=re.MULTILINE)
    for each in pieces:
        operation = re.search('OPERATION_NAME = "(.+?)"', each)
        if operation is not None:
            names = re.findall(r'attributes\\["(\\w+)"\\]', each)
            found[operation[1]] = sorted({*found.get(operation[1], ()), *names})
print(json.dumps(found))
"""


@cache
def attributes_of_bindings() -> dict[str, list[str]]:
    """Returns the attributes of every operation of StableHLO and CHLO, as MLIR's bindings list them."""
    done = subprocess.run([sys.executable, "-c", BINDINGS], capture_output=True, text=True, check=True)
    found: dict[str, list[str]] = json.loads(done.stdout)
    return found


def undeclared(found: Mapping[str, Collection[str]]) -> set[tuple[str, str]]:
    pairs = {(name, each) for name, listed in found.items() for each in listed}
    return {(name, each) for name, each in pairs if each not in attributes_of(hlo_opcode(name))}


def test_every_attribute_of_stablehlo_is_declared() -> None:
    found = attributes_of_bindings()
    assert sum(map(len, found.values())) > 150
    assert undeclared(found) == set()
    assert undeclared({**found, "stablehlo.add": ["planted"]}) == {("stablehlo.add", "planted")}


def unlabelled(opcode: str, attribute: Attribute) -> bool:
    """Is true where no value of an attribute that may affect the result is in the label of an operation of HLO."""
    values = dict.fromkeys((*attribute.values, *ADDED.get(attribute.kind, ((), ()))[0], "{size=1}"))
    texts = ["", *(f", {attribute.name}={value}" for value in values)]
    line = "  ROOT r = f32[4] {}(p, p){}\n"
    lines = [f"HloModule m\nENTRY e {{\n  p = f32[4] parameter(0)\n{line.format(opcode, text)}}}\n" for text in texts]
    keys = {labels.key_of(hlo(each).entry.root) for each in lines}
    return len(keys) == 1


# Their contents and numbers are no attributes.
_WITHOUT_OPERANDS = {"constant", "parameter"}


@pytest.mark.parametrize("opcode", sorted(HLO_NAMES - _WITHOUT_OPERANDS - {"async"}))
def test_every_attribute_is_in_the_label_or_says_why_not(opcode: str) -> None:
    own = [each for each in opcode_of(opcode).attributes if not each.names_computations]
    assert [each.name for each in own if unlabelled(opcode, each) == (each.unused == "")] == []


def test_a_planted_attribute_without_effect_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    values = (*ADDED["text"][0], "{size=1}")
    silent, spoken = (Attribute("planted", default=default) for default in (values, ()))
    for attribute in (silent, spoken):
        monkeypatch.setattr(labels, "attributes_of", lambda name, a=attribute: {**attributes_of(name), "planted": a})
        assert unlabelled("negate", attribute) is (attribute is silent)
