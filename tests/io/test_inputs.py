from __future__ import annotations

import gzip
import os
from dataclasses import replace
from pathlib import Path

import pytest

from dialect_utils.io.inputs import Input, Inputs, Selection, SelectionError, find_inputs, pair_inputs
from dialect_utils.text import DiagnosticError

HLO = "HloModule m\n\nENTRY e {\n  ROOT p = f32[3] parameter(0)\n}\n"
MLIR = "module @m {\n}\n"
STEP = "0001.fusion.after_x.before_y"


def field(number: int, value: bytes) -> bytes:
    """Returns a field of wire type 2, of at most 127 bytes."""
    return bytes([number << 3 | 2, len(value)]) + value


# HloProto { hlo_module { name: "m" computations { name: "e" } } }
PROTO = field(1, field(1, b"m") + field(3, field(1, b"e")))
# A report has names but no computations.
REPORT = field(1, field(1, b"m") + field(2, b"\x08\x01"))


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    folder = tmp_path / "dump"
    files: dict[str, str | bytes] = {
        "module_0010.jit_g.before_optimizations.txt": HLO,
        "module_0002.jit_f.cpu_after_optimizations.txt": HLO,
        f"module_0002.jit_f.{STEP}.hlo.pb.gz": gzip.compress(PROTO),
        "module_0002.jit_f.before_optimizations.txt": HLO,
        "module_0002.jit_f.before_optimizations.hlo.pb": PROTO,
        "module_0002.jit_f/module.mlir": MLIR,
        "module_0002.jit_f/topology.pb": b"\x08\x01",
        "module_0002.jit_f.cpu_after_optimizations-buffer-assignment.txt": f"BufferAssignment:\n{HLO[:9]}\n",
        "module_0002.jit_f.cpu_after_optimizations-memory-usage-report.pb": REPORT,
        "module_0002.jit_f.debug_options": "xla_cpu: true\n",
        "module_0002.jit_f.obj-file.k.o": b"\x7fELF\x02\x01",
        "module_0002.jit_f.k.ir-no-opt.ll": "; ModuleID = 'k'\n",
        "module_0002.jit_f.before_optimizations.html": f"<html>\n<pre>{HLO}</pre></html>",
        ".hidden.txt": HLO,
    }
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def names(found: Inputs) -> list[str]:
    return [each.relative for each in found.modules]


def test_the_modules_of_a_directory_are_found_by_content_in_order_and_once(dump: Path) -> None:
    found = find_inputs([str(dump)])
    assert names(found) == [
        "module_0002.jit_f.before_optimizations.txt",
        f"module_0002.jit_f.{STEP}.hlo.pb.gz",
        "module_0002.jit_f.cpu_after_optimizations.txt",
        "module_0010.jit_g.before_optimizations.txt",
    ]
    [note] = found.notes
    assert note.message == (
        f"{dump}: 4 modules; passed over: files that hold no module (7), "
        "protos of stages that are texts, too (1), StableHLO of modules that are HLO, too; --stage stablehlo (1)"
    )
    assert found.modules[0].proto == str(dump / "module_0002.jit_f.before_optimizations.hlo.pb")
    assert found.modules[2].proto is None
    assert found.modules[0].module().text() == HLO


@pytest.mark.parametrize(
    ("selection", "expected"),
    [
        (Selection(("stablehlo",)), ["module_0002.jit_f/module.mlir"]),
        (Selection(("after_optimizations",)), ["module_0002.jit_f.cpu_after_optimizations.txt"]),
        (Selection((), ("jit_g", "module_0003")), "module_0003"),
        (Selection(("before_optimizations",), ("jit_g",)), ["module_0010.jit_g.before_optimizations.txt"]),
        (Selection(("after_optimizations",), ("jit_g",)), "no module has the stage after_optimizations"),
        (Selection(("before_optimisations",)), "did you mean before_optimizations?"),
        (Selection((), ("jit_x",)), "there are jit_f, jit_g"),
    ],
)
def test_a_selection_chooses_or_lists_the_names(dump: Path, selection: Selection, expected: list[str] | str) -> None:
    if isinstance(expected, list):
        assert names(find_inputs([str(dump)], selection)) == expected
        return
    with pytest.raises(SelectionError, match=expected.replace("?", r"\?")):
        find_inputs([str(dump)], selection)


def test_a_module_file_without_a_module_is_an_error(dump: Path) -> None:
    (dump / "module_0001.jit_e.before_optimizations.hlo.pb").write_bytes(PROTO[:-3])
    (dump / "module_0001.jit_e.after_optimizations.hlo.pb.gz").write_bytes(gzip.compress(PROTO)[:-9])
    found = find_inputs([str(dump)])
    assert names(found)[:2] == [
        "module_0001.jit_e.before_optimizations.hlo.pb",
        "module_0001.jit_e.after_optimizations.hlo.pb.gz",
    ]
    for broken in found.modules[:2]:
        with pytest.raises(DiagnosticError, match="jit_e"):
            broken.module()


def test_pipes_and_linked_directories_are_skipped(dump: Path) -> None:
    os.mkfifo(dump / "module_0000.pipe.txt")
    (dump / "loop").symlink_to(dump)
    assert len(find_inputs([str(dump)]).modules) == 4


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    file = tmp_path / "outside" / "secret.hlo"
    file.parent.mkdir()
    file.write_text(HLO.replace("HloModule m", "HloModule secret"))
    return file


def test_a_directory_of_any_depth_is_read(dump: Path) -> None:
    deep = dump
    # mkdir(parents=True) recurses, and so does pytest where it removes its directories.
    for _ in range(1200):
        deep /= "d"
        deep.mkdir()
    (deep / "z.hlo").write_text("HloModule m\n")
    try:
        assert [each.inner for each in find_inputs([str(dump)]).modules if each.path == str(deep / "z.hlo")]
    finally:
        (deep / "z.hlo").unlink()
        os.removedirs(deep)


def test_links_that_leave_a_directory_are_passed_over_with_a_note(dump: Path, secret: Path, tmp_path: Path) -> None:
    before = names(find_inputs([str(dump)]))
    (dump / "module_0001.a.before_optimizations.hlo").symlink_to(secret)
    (dump / "module_0001.b.before_optimizations.txt").symlink_to(os.path.relpath(secret, dump))
    (dump / "module_0001.c.before_optimizations.hlo").symlink_to("/etc/passwd")
    # A chain of links: the first one stays inside.
    (dump / "module_0001.d.before_optimizations.hlo").symlink_to("module_0001.a.before_optimizations.hlo")
    (dump / "folder").symlink_to(secret.parent)
    (dump / "module_0001.e.before_optimizations.hlo").symlink_to("folder/secret.hlo")
    (dump / "module_0001.f.before_optimizations.hlo").symlink_to(f"{tmp_path}/dump-of-another/m.hlo")
    found = find_inputs([str(dump)])
    assert names(found) == before
    assert "files that hold no module (7), links that leave the directory (6), protos" in found.notes[0].message
    lone = tmp_path / "lone"
    lone.mkdir()
    (lone / "m.hlo").symlink_to(secret)
    with pytest.raises(DiagnosticError, match="no file in this directory holds a module") as caught:
        find_inputs([str(lone)])
    assert caught.value.diagnostics[0].hint == "1 are links that leave the directory"


def test_links_that_stay_in_a_directory_are_read(dump: Path, tmp_path: Path) -> None:
    (dump / "module_0001.a.before_optimizations.hlo").symlink_to("module_0010.jit_g.before_optimizations.txt")
    (dump / "module_0001.b.before_optimizations.hlo").symlink_to(dump / "module_0002.jit_f/../.hidden.txt")
    linked = tmp_path / "linked"
    linked.symlink_to(dump)
    for folder in (dump, linked):
        first, second = find_inputs([str(folder)]).modules[:2]
        assert [first.module().text(), second.module().text()] == [HLO, HLO]


def test_a_named_file_may_be_a_link(secret: Path, tmp_path: Path) -> None:
    (tmp_path / "link.hlo").symlink_to(secret)
    [named] = find_inputs([str(tmp_path / "link.hlo")]).modules
    [matching] = find_inputs([str(tmp_path / "li*.hlo")]).modules
    assert named.module().name == matching.module().name == "secret"


@pytest.mark.parametrize("is_folder", [False, True])
def test_a_file_that_becomes_a_link_after_it_was_found_is_not_read(
    is_folder: bool, secret: Path, tmp_path: Path
) -> None:
    file = tmp_path / "dump" / "inner" / "secret.hlo"
    file.parent.mkdir(parents=True)
    file.write_text(HLO)
    [found] = find_inputs([str(tmp_path / "dump")]).modules
    assert found.module().name == "m"
    (file.parent if is_folder else file).rename(tmp_path / "moved")
    (file.parent if is_folder else file).symlink_to(secret.parent if is_folder else secret)
    with pytest.raises(DiagnosticError, match="is a link that leaves the directory") as caught:
        found.module()
    assert "HloModule" not in str(caught.value)


def test_a_proto_beside_a_text_may_not_be_a_link_that_leaves(secret: Path, tmp_path: Path) -> None:
    folder = tmp_path / "dump"
    folder.mkdir()
    text, proto = folder / "module_0001.f.x.txt", folder / "module_0001.f.x.hlo.pb"
    text.write_text(HLO.replace("parameter(0)", "constant({...})"))
    secret.write_bytes(PROTO)
    proto.symlink_to(secret)
    [found] = find_inputs([str(folder)]).modules
    assert found.proto is None
    proto.unlink()
    proto.write_bytes(PROTO)
    [found] = find_inputs([str(folder)]).modules
    proto.unlink()
    proto.symlink_to(secret)
    with pytest.raises(DiagnosticError, match="is a link that leaves the directory"):
        found.with_constants().data()


def test_two_directories_keep_their_names_apart(dump: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "module_0002.jit_f.before_optimizations.txt").write_text(HLO)
    found = find_inputs([str(dump), str(other)], Selection(("before_optimizations",)))
    assert names(found) == [
        "dump/module_0002.jit_f.before_optimizations.txt",
        "dump/module_0010.jit_g.before_optimizations.txt",
        "other/module_0002.jit_f.before_optimizations.txt",
    ]


def test_files_patterns_and_standard_input_are_inputs(dump: Path) -> None:
    named = ["-", "absent.hlo", str(dump / "*.before_optimizations.txt")]
    assert [Path(each.path).name for each in find_inputs(named).modules] == [
        "-",
        "absent.hlo",
        "module_0002.jit_f.before_optimizations.txt",
        "module_0010.jit_g.before_optimizations.txt",
    ]
    with pytest.raises(SelectionError, match="no FILE is one"):
        find_inputs(named, Selection(("x",)))
    with pytest.raises(DiagnosticError, match="no file has such a name"):
        find_inputs([str(dump / "*.mlirbc")])


def test_a_directory_without_modules_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("HloModules are many\n")
    with pytest.raises(DiagnosticError, match="no file in this directory holds a module"):
        find_inputs([str(tmp_path)])


def test_more_files_than_a_dump_has_are_rejected(dump: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dialect_utils.io.inputs.MOST_FILES", 5)
    with pytest.raises(DiagnosticError, match="more than 5 files"):
        find_inputs([str(dump)])


def inputs(*relative: str) -> list[Input]:
    return [Input(name, name) for name in relative]


@pytest.mark.parametrize(
    ("first", "second", "pairs", "alone"),
    [
        (["a.hlo"], ["other.txt"], [(0, 0)], 0),
        (["module_2.f.x.txt", "module_4.f.x.txt"], ["module_4.f.x.txt", "module_2.f.x.txt"], [(0, 1), (1, 0)], 0),
        (["module_2.f.x.txt", "module_4.f.x.txt"], ["module_1.f.x.txt", "module_3.f.x.txt"], [(0, 0), (1, 1)], 0),
        (
            ["module_0002.f.0012.p.after_a.txt", "module_0002.f.cpu_after_optimizations.txt"],
            ["module_0002.f.0011.p.after_a.txt", "module_0002.f.gpu_after_optimizations.txt"],
            [(0, 0), (1, 1)],
            0,
        ),
        (["module_0002.f.x.txt", "module_0002.g.x.txt"], ["module_0002.g.x.txt", "module_0002.h.x.txt"], [(1, 0)], 2),
        (["a/x.hlo", "b/x.hlo"], ["b/x.hlo", "a/x.hlo"], [(0, 1), (1, 0)], 0),
    ],
)  # fmt: skip
def test_the_modules_of_two_dumps_are_paired(
    first: list[str], second: list[str], pairs: list[tuple[int, int]], alone: int
) -> None:
    left, right = inputs(*first), inputs(*second)
    found = pair_inputs(left, right)
    assert [(first.index(a.path), second.index(b.path)) for a, b in found.pairs] == pairs
    assert len(found.alone) == alone


def test_the_proto_replaces_a_text_with_elided_constants(tmp_path: Path) -> None:
    text, proto = tmp_path / "module_0001.f.x.txt", tmp_path / "module_0001.f.x.hlo.pb"
    proto.write_bytes(PROTO)
    for constant, expected in (("{1, 2}", text), ("{...}", proto)):
        text.write_text(HLO.replace("parameter(0)", f"constant({constant})"))
        [found] = find_inputs([str(tmp_path)]).modules
        assert found.path == str(text)
        assert found.with_constants().path == str(expected)
        # The text's bytes are not those of the proto.
        read = replace(found, content=found.data()).with_constants()
        assert (read.content is None) == (read.path != found.path)
