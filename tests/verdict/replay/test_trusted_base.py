"""The files that a replay trusts are listed in docs/proofs.md: all that `verdict/replay` imports, directly or not.

`python -m tests.verdict.replay.test_trusted_base` writes the list again.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.paths import ROOT

_PAGE = ROOT / "docs" / "proofs.md"
_BEGIN, _END = "<!-- trusted: begin -->\n", "<!-- trusted: end -->"
# Lines are rounded to the first number; a file may differ by the second, so that small changes leave the list alone.
_ROUNDED, _TOLERANCE = 10, 50
_COUNT = re.compile(r"(?<= )\d+(?=,| )")


def file_of(module: str) -> Path | None:
    path = ROOT.joinpath(*module.split("."))
    found = (path / "__init__.py", path.with_suffix(".py"))
    return next((file for file in found if file.exists()), None)


def imports(code: str) -> Iterator[str]:
    """Yields the modules that a file imports, wherever it does; not those for types only."""
    tree = ast.parse(code)
    types = (node for node in ast.walk(tree) if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test))
    left_out = {id(each) for node in types for each in ast.walk(node)}
    for node in ast.walk(tree):
        if id(node) in left_out:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def trusted(module: str = "dialect_utils.verdict.replay") -> set[Path]:
    """Returns the files of a module and of all that it imports, this project's only."""
    found: set[Path] = set()
    pending = [module]
    while pending:
        file = file_of(pending.pop())
        if file is not None and file not in found:
            found.add(file)
            pending += imports(file.read_text("utf-8"))
    return found


def table() -> str:
    """Returns the list: a row for each folder, with its files and the lines of each, rounded."""
    folders: dict[str, list[Path]] = {}
    for file in sorted(trusted()):
        folders.setdefault(file.relative_to(ROOT).parent.as_posix(), []).append(file)
    lines = ["| folder | files and their lines |", "|---|---|"]
    lines += [f"| `{folder}` | {', '.join(map(_counted, files))} |" for folder, files in folders.items()]
    return "\n".join([*lines, f"| all | {_lines([each for files in folders.values() for each in files])} |", ""])


def _counted(file: Path) -> str:
    return f"{'`__init__`' if file.stem == '__init__' else file.stem} {_lines([file])}"


def _lines(files: list[Path]) -> int:
    count = sum(len(file.read_text("utf-8").splitlines()) for file in files)
    return max(1, round(count / _ROUNDED)) * _ROUNDED


def written() -> str:
    return _PAGE.read_text("utf-8").split(_BEGIN)[1].split(_END)[0]


def is_close(first: str, second: str) -> bool:
    """Is true for two lists of the same files, none of which differs by more lines than a small change has."""
    names = [_COUNT.sub("", text).splitlines()[:-1] for text in (first, second)]
    numbers = [
        [int(each) for line in text.splitlines()[:-1] for each in _COUNT.findall(line)] for text in (first, second)
    ]
    return names[0] == names[1] and all(abs(a - b) <= _TOLERANCE for a, b in zip(*numbers, strict=True))


def test_the_page_lists_the_files_that_a_replay_trusts() -> None:
    assert is_close(written(), table()), "python -m tests.verdict.replay.test_trusted_base writes the list"


def test_a_file_that_is_missing_or_much_longer_is_noticed() -> None:
    assert not is_close(re.sub(r" slices \d+,", "", written()), table())
    assert not is_close(written().replace(" slices ", " slices 9"), table())


def test_a_replay_trusts_nothing_of_the_prover() -> None:
    folders = {file.relative_to(ROOT).parent.as_posix() for file in trusted()}
    wanted = {"verdict/replay", "verdict/rules", "verdict/terms", "ops", "layout/moves", "layout/proof"}
    assert {f"dialect_utils/{name}" for name in wanted} <= folders
    assert not any(name in folder for folder in folders for name in ("verdict/proof", "verdict/field", "sampling"))


def main() -> None:
    before, rest = _PAGE.read_text("utf-8").split(_BEGIN)
    _PAGE.write_text(f"{before}{_BEGIN}{table()}{_END}{rest.split(_END)[1]}", "utf-8")


if __name__ == "__main__":
    main()
