"""Every source file of the algebra has the file of tests of its name, or a reason."""

from __future__ import annotations

from pathlib import PurePosixPath

from tests.paths import ROOT

SOURCES, TESTS = ROOT / "dialect_utils" / "layout", ROOT / "tests" / "layout"
_DRAWN = "a drawing is judged whole, from the model to what is printed"
# Source -> the tests that hold it, and why they have another name.
ELSEWHERE = {
    "picture/drawing.py": ("picture/test_picture.py", _DRAWN),
    "picture/model.py": ("picture/test_picture.py", _DRAWN),
    "picture/svg.py": ("picture/test_picture.py", _DRAWN),
    "picture/terminal.py": ("picture/test_picture.py", _DRAWN),
    "proof/bitcast_proof.py": ("proof/test_proof.py", "it asks what all the others of its folder answer"),
}


def sources() -> dict[str, str]:
    """Returns the files of tests that source files are mirrored by."""
    found = {}
    for file in sorted(SOURCES.rglob("*.py")):
        name = PurePosixPath(file.relative_to(SOURCES).as_posix())
        if name.name != "__init__.py":
            found[str(name)] = str(name.parent / f"test_{name.name}")
    return found


def test_every_source_has_its_tests() -> None:
    without = {source for source, tests in sources().items() if not (TESTS / tests).exists()}
    assert without == ELSEWHERE.keys()


def test_the_tests_elsewhere_know_what_they_hold() -> None:
    for source, (tests, _) in ELSEWHERE.items():
        package = PurePosixPath(source).parent
        assert f"dialect_utils.layout.{package}" in (TESTS / tests).read_text("utf-8")
