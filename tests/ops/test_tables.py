"""One table of opcodes: a query for an unknown one fails, and no other module keeps a list of its own."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from dialect_utils.ops import (
    HLO_NAMES,
    OPCODES,
    Trait,
    UnknownOpcodeError,
    attribute_name,
    by_opcode,
    elementwise,
    has,
    hlo_opcode,
    is_opcode,
    named,
    opcode_of,
    split_asynchronous,
    with_trait,
)
from tests.paths import ROOT

PACKAGES = ("dialect_utils", "passes", "relayout")
OWNER = "dialect_utils/ops"
# So many opcodes in one place are a table.
TABLE = 4
# They check that every name is an opcode, when their module is imported.
CHECKED = {"named", "by_opcode"}
# Tables in no checked form, by file, and why each is one.
ALLOWED = {
    "passes/dumps/custom_calls/cudnn.py": "the operations of another library, and the opcode of each",
    "passes/dumps/mosaic/vector_ops.py": "the reductions of another dialect, some of them spelled like opcodes",
    "dialect_utils/verdict/field/elementwise.py": "labels of terms, most of which are opcodes",
    "dialect_utils/verdict/terms/interpretation.py": "labels of terms, each of which stands for a primitive",
    "dialect_utils/verdict/terms/wellformed.py": "labels of terms, among them functions and loops",
    "dialect_utils/verdict/replay/polynomials.py": "labels of terms, among them sums of many terms",
}


def is_known(name: str) -> bool:
    return name in OPCODES or is_opcode(name)


def words_of(node: ast.AST) -> list[list[str]]:
    """Returns the lists of words that a literal holds: elements, keys and values, or the words of a string."""
    if isinstance(node, ast.Dict):
        return [texts(key for key in node.keys if key is not None), texts(node.values)]
    if isinstance(node, ast.Set | ast.Tuple | ast.List):
        return [texts(node.elts)]
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [node.value.split()]
    return [cases_of(node)] if isinstance(node, ast.Match) else []


def cases_of(match: ast.Match) -> list[str]:
    """Returns the words that the cases of a `match` compare with."""
    patterns = [part for case in match.cases for part in ast.walk(case.pattern)]
    return texts([part.value for part in patterns if isinstance(part, ast.MatchValue)])


def texts(nodes: object) -> list[str]:
    assert isinstance(nodes, Iterator | list)
    return [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]


def is_table(words: list[str]) -> bool:
    found = {word for word in words if is_known(word)}
    return len(found) >= TABLE and 2 * len(found) > len(set(words))


def tables(tree: ast.AST) -> Iterator[tuple[ast.stmt, bool]]:
    """Yields the statement of every table of opcodes, and whether the table checks itself."""
    for statement in ast.walk(tree):
        if not isinstance(statement, ast.stmt) or isinstance(statement, ast.FunctionDef | ast.ClassDef):
            continue
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
            continue
        inside: set[int] = set()
        for call in ast.walk(statement):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in CHECKED:
                inside |= {id(node) for argument in call.args for node in ast.walk(argument)}
        if isinstance(statement, ast.Match) and is_opcode_expression(statement.subject):
            # `misspelt` looks at these.
            inside.add(id(statement))
        for node in own_nodes(statement):
            if any(map(is_table, words_of(node))):
                yield statement, id(node) in inside


def own_nodes(statement: ast.stmt) -> Iterator[ast.AST]:
    """Yields the nodes of a statement without those of statements inside of it."""
    waiting: list[ast.AST] = [statement]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += [child for child in ast.iter_child_nodes(node) if not isinstance(child, ast.stmt)]


def complaints(code: str) -> list[str]:
    """Returns what is wrong with the tables of opcodes in a module."""
    lines = code.splitlines()
    found = []
    for statement, is_checked in tables(ast.parse(code)):
        above = lines[statement.lineno - 2].strip() if statement.lineno > 1 else ""
        if not is_checked:
            found.append(f"line {statement.lineno}: a table of opcodes that nothing checks")
        if not above.startswith("#"):
            found.append(f"line {statement.lineno}: a table of opcodes without a sentence that says why")
    return found


def misspelt(code: str) -> list[str]:
    """Returns the texts that a module compares with an opcode and that are none."""
    found = []
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Match) and is_opcode_expression(node.subject):
            found += [f"line {node.lineno}: {word}" for word in cases_of(node) if not is_known(word)]
        if not isinstance(node, ast.Compare):
            continue
        sides = [node.left, *node.comparators]
        if any(map(is_opcode_expression, sides)):
            candidates = [word for side in sides for word in compared(side)]
            found += [f"line {node.lineno}: {word}" for word in candidates if not is_known(word)]
    return found


def is_opcode_expression(node: ast.AST) -> bool:
    return (isinstance(node, ast.Attribute) and node.attr == "opcode") or (
        isinstance(node, ast.Name) and node.id == "opcode"
    )


def compared(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Constant):
        return [node.value] if isinstance(node.value, str) and node.value else []
    return texts(node.elts) if isinstance(node, ast.Set | ast.Tuple | ast.List) else []


def modules() -> list[Path]:
    files = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]
    return [path for path in files if not path.is_relative_to(ROOT / OWNER)]


def test_every_table_says_why_it_is_one_and_checks_its_names() -> None:
    found = {str(path.relative_to(ROOT)): complaints(path.read_text(encoding="utf-8")) for path in modules()}
    assert {path: problems for path, problems in found.items() if problems and path not in ALLOWED} == {}
    assert {path for path in ALLOWED if not found.get(path)} == set(), "no longer needed"


def test_every_opcode_that_is_compared_with_exists() -> None:
    found = {str(path.relative_to(ROOT)): misspelt(path.read_text(encoding="utf-8")) for path in modules()}
    assert {path: words for path, words in found.items() if words} == {}


@pytest.mark.parametrize(
    ("code", "count"),
    [
        ('MOVES = {"copy", "pad", "slice", "reshape"}\n', 2),
        ('# Why.\nMOVES = frozenset(("copy", "pad", "slice", "reshape"))\n', 1),
        ('MOVES = named("copy pad slice reshape")\n', 1),
        ('# Why.\nMOVES = named("copy pad slice reshape")\n', 0),
        ('RULES = {"copy": 1, "pad": 2, "slice": 3, "reshape": 4}\n', 2),
        ('def f(x):\n    return x in ("copy", "pad", "slice", "reshape")\n', 2),
        ('STEPS = {A: "transpose", B: "pad", C: "slice", D: "reshape"}\n', 2),
        ('NAMES = {"copy", "paste", "slice", "bread", "reshape", "salt", "pad", "pepper"}\n', 0),
        ('NAMES = ("copy", "pad", "slice")\n', 0),
        ('def f():\n    """Copy pad slice reshape."""\n', 0),
        ('match x:\n    case "copy" | "pad":\n        pass\n    case "slice" | "reshape":\n        pass\n', 2),
        ('match x.opcode:\n    case "copy" | "pad":\n        pass\n    case "slice" | "reshape":\n        pass\n', 1),
    ],
)
def test_planted_tables_are_found(code: str, count: int) -> None:
    assert len(complaints(code)) == count


def test_planted_misspelt_opcodes_are_found() -> None:
    code = 'if item.opcode == "optimization-barrier" or opcode in ("clz", "slice-start") or name == "clz":\n    pass\n'
    assert misspelt(code) == ["line 1: optimization-barrier", "line 1: clz"]
    assert misspelt('match item.opcode:\n    case "clz" | "add":\n        pass\n') == ["line 1: clz"]


def test_a_query_for_an_unknown_opcode_fails_at_import(tmp_path: Path) -> None:
    query = "from dialect_utils.ops import named\n_BARRIERS = named('tuple optimization-barrier')\n"
    (tmp_path / "planted.py").write_text(query)
    command = [sys.executable, "-c", f"import sys; sys.path[:0] = [{str(ROOT)!r}, {str(tmp_path)!r}]; import planted"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "UnknownOpcodeError: no opcode is called optimization-barrier" in done.stderr
    with pytest.raises(UnknownOpcodeError, match="clz"):
        by_opcode({"add": 1, "clz": 2})


def test_names_are_listed_once() -> None:
    from dialect_utils.ops.table import HLO_OPCODES, OTHER_OPERATIONS

    names = [each.name for each in (*HLO_OPCODES, *OTHER_OPERATIONS)]
    assert sorted(set(names)) == sorted(names)
    mnemonics = [mnemonic for each in HLO_OPCODES for mnemonic in each.mlir]
    assert sorted(set(mnemonics)) == sorted(mnemonics)


def test_asynchronous_forms_follow_from_their_opcodes() -> None:
    assert is_opcode("slice-start")
    assert is_opcode("async-start")
    assert not is_opcode("async")
    assert not is_opcode("slice-begin")
    assert not is_opcode("chlo.erf")
    assert opcode_of("copy-start").started == 0
    assert opcode_of("all-reduce-done").started is None
    assert opcode_of("slice-done").operand_count == 1
    assert opcode_of("dynamic-update-slice-done").operand_count == 1
    assert opcode_of("dynamic-update-slice-update").operands == (1, None)
    assert opcode_of("dynamic-update-slice-start").operands == opcode_of("dynamic-update-slice").operands
    assert split_asynchronous("slice-update") == ("slice", "-update")
    assert split_asynchronous("slice-begin-start") == ("slice-begin-start", "")
    assert has("all-gather-start", Trait.COLLECTIVE | Trait.PURE)
    assert not has("add-start", Trait.ELEMENTWISE)
    assert has("recv-done", Trait.COMMUNICATES)
    assert has("fusion-start", Trait.CALLS)


def test_an_operation_of_another_dialect_has_no_trait() -> None:
    assert opcode_of("arith.addf").traits == Trait(0)
    assert opcode_of("arith.addf").operand_count is None


def test_traits_agree_with_each_other() -> None:
    assert with_trait(Trait.MOVES_DATA) <= with_trait(Trait.BOUNDED)
    assert with_trait(Trait.FORWARDS) <= with_trait(Trait.BOUNDED)
    assert with_trait(Trait.TUPLES) < with_trait(Trait.ALIASES) <= with_trait(Trait.BOUNDED) | {"bitcast"}
    assert with_trait(Trait.ELEMENTWISE) <= with_trait(Trait.PURE)
    assert not with_trait(Trait.APPLIES) & with_trait(Trait.CALLS)
    assert with_trait(Trait.COLLECTIVE) <= with_trait(Trait.AMONG_DEVICES)
    assert not with_trait(Trait.COMMUNICATES) & with_trait(Trait.PURE)
    assert named("opt-barrier add-dependency copy domain") == with_trait(Trait.FORWARDS)


@pytest.mark.parametrize(
    ("mlir", "hlo"),
    [
        ("stablehlo.dot_general", "dot"),
        ("stablehlo.case", "conditional"),
        ("stablehlo.optimization_barrier", "opt-barrier"),
        ("mhlo.acosh", "acosh"),
        ("mhlo.xla.rng_get_and_update_state", "rng-get-and-update-state"),
        ("func.call", "call"),
        ("stablehlo.dynamic_gather", "stablehlo.dynamic_gather"),
        ("mhlo.dynamic_gather", "mhlo.dynamic_gather"),
        ("chlo.erf", "chlo.erf"),
        ("sdy.mesh", "sdy.mesh"),
    ],
)
def test_mlir_operations_have_the_opcodes_of_hlo(mlir: str, hlo: str) -> None:
    assert hlo_opcode(mlir) == hlo


def test_attributes_have_stablehlos_names() -> None:
    assert attribute_name("stablehlo.transpose", "dimensions") == "permutation"
    assert attribute_name("stablehlo.broadcast_in_dim", "dimensions") == "broadcast_dimensions"
    assert attribute_name("stablehlo.reduce", "dimensions") == "dimensions"
    assert attribute_name("arith.addf", "dimensions") == "dimensions"
    name = attribute_name("stablehlo.dot_general", "lhs_batch_dims")
    assert name == "dot_dimension_numbers.lhs_batching_dimensions"
    assert len(HLO_NAMES) == 122


def test_the_elementwise_operations_are_those_of_their_family_and_of_chlo() -> None:
    lists = (value for name, value in vars(elementwise).items() if name.startswith("CHLO_"))
    chlo = {f"chlo.{name}" for names in lists for name in names.split()}
    assert with_trait(Trait.ELEMENTWISE) == {each.name for each in elementwise.OPERATIONS} | chlo
