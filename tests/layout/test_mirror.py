"""Every source file of the layout package has a test file of its name, or a reason."""

from __future__ import annotations

from pathlib import PurePosixPath

from tests.paths import ROOT

SOURCES, TESTS = ROOT / "dialect_utils" / "layout", ROOT / "tests" / "layout"
_DRAWN = "a drawing is tested as a whole, from the model to the output"
_BACK = "layouts that are written are read back"
_CHIPS = "it is tested with the chips of both kinds"
# Source -> its tests, and the reason for their other name.
ELSEWHERE = {
    "notation/reading.py": ("notation/test_writing.py", _BACK),
    "picture/drawing.py": ("picture/test_picture.py", _DRAWN),
    "picture/model.py": ("picture/test_picture.py", _DRAWN),
    "picture/svg.py": ("picture/test_picture.py", _DRAWN),
    "picture/terminal.py": ("picture/test_picture.py", _DRAWN),
    "targets/known.py": ("targets/test_gpu.py", _CHIPS),
    "targets/target.py": ("targets/test_gpu.py", _CHIPS),
    "proof/bitcast_proof.py": ("proof/test_proof.py", "it uses all other modules of its folder"),
}


def sources() -> dict[str, str]:
    """Returns for each source file the test file that mirrors it."""
    found = {}
    for file in sorted(SOURCES.rglob("*.py")):
        name = PurePosixPath(file.relative_to(SOURCES).as_posix())
        if name.name != "__init__.py":
            found[str(name)] = str(name.parent / f"test_{name.name}")
    return found


def test_every_source_has_its_tests() -> None:
    without = {source for source, tests in sources().items() if not (TESTS / tests).exists()}
    assert without == ELSEWHERE.keys()


def test_tests_of_other_names_use_their_source() -> None:
    for source, (tests, _) in ELSEWHERE.items():
        package = PurePosixPath(source).parent
        assert f"dialect_utils.layout.{package}" in (TESTS / tests).read_text("utf-8")
