"""The readers under fuzzing, and what must hold for every input: a result or DiagnosticError, and lossless printing."""

from __future__ import annotations

import gzip
import io
import json
import lzma
import os
import re
import shlex
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from dialect_utils.execution.archives import read_arrays, read_msgpack, read_orbax
from dialect_utils.execution.messages import MalformedMessageError, decode_message, decode_results
from dialect_utils.execution.recorded import read_recorded
from dialect_utils.hlo import parse_module
from dialect_utils.hlo.text.literals import format_scalar, parse_scalar
from dialect_utils.io.containers import find_in_log
from dialect_utils.io.decompression import COMPRESSED, decompressed, start_of_content
from dialect_utils.io.dump_names import parse_dump_name
from dialect_utils.io.files import decode, find_kind, kind_of_module, parse_bytes
from dialect_utils.io.inputs import find_inputs, last_stages, pair_inputs
from dialect_utils.io.protos import MalformedProtoError, find_proto, is_proto_of_module
from dialect_utils.io.remote import local_path, matching_urls, read_url, write_url
from dialect_utils.ir import Module
from dialect_utils.layout import ELEMENT_TYPES, parse_layout, parse_shape
from dialect_utils.layout.targets.gpu import described_gpu
from dialect_utils.layout.text.foreign import read_shape
from dialect_utils.ops.window import format_window, parse_labels, parse_window
from dialect_utils.text import DiagnosticError, Source, leaves_directory
from dialect_utils.verdict import Options, compare_modules
from dialect_utils.verdict.certificate import certificate_text, read_certificate
from dialect_utils.verdict.partition import read_partition
from dialect_utils.verdict.replay import replay
from passes.dumps.expand_custom_calls import EXPANSIONS
from passes.framework.pipeline import PassError, Pipeline, read_pipelines, verify
from passes.layouts.annotate_layouts import read_layout_rules
from relayout.api import memory_report
from relayout.batch.results import from_lines, from_parquet
from relayout.commands.check import parse_pairs
from relayout.comments import expectations, split_input, strip_comments, unmet
from relayout.reporting.export import format_graphviz, format_model_explorer
from relayout.reporting.html import html_page
from relayout.reporting.terminal import terminal_page
from relayout.supervisor.child import parse_plan
from relayout.supervisor.host import DONE, PLAN, MalformedFrameError, parse_named_file
from relayout.supervisor.pool import _fields, _planned
from relayout.tuning.trials import read_trials
from tests.paths import OWN_CORPUS, ROOT

# Each kept input, by target: minimized by coverage, and every input that once showed a mistake.
KEPT = ROOT / "tests" / "fuzzing" / "corpus"
# A whole module of the tree is a seed where it is shorter: short inputs are executed more often.
_LARGEST_SEED = 3000
_START = 100
# A disk would take longer than the reader.
_MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


@dataclass(frozen=True, slots=True)
class Target:
    """One reader: its check, which raises for a violated property, and files of the tree as its first inputs."""

    check: Callable[[bytes], object]
    suffix: str | None = None

    def seeds(self) -> Iterator[bytes]:
        """Yields the short files of the tree with the target's suffix."""
        folders = () if self.suffix is None else (OWN_CORPUS, ROOT / "lit_tests", ROOT / "examples")
        for path in (path for folder in folders for path in sorted(folder.rglob(f"*{self.suffix}"))):
            if path.stat().st_size <= _LARGEST_SEED:
                yield path.read_bytes()


@contextmanager
def _file(data: bytes) -> Iterator[Path]:
    with tempfile.NamedTemporaryFile(dir=_MEMORY) as file:
        file.write(data)
        file.flush()
        yield Path(file.name)


def _check_hlo(data: bytes) -> None:
    text = decode(data)
    module = parse_module(text)
    assert module.text() == text, "the module prints other bytes than it was read from"
    verify(module)
    assert module.clone().text() == text, "the clone prints other bytes"
    for instruction in (each for computation in module.computations for each in computation.instructions):
        shape = instruction.shape
        assert parse_shape(str(shape)) == shape, f"{shape} is read as another shape"


# An attribute's text is inserted into a module that verifies with the first text.
_CONTEXTS: tuple[tuple[str, str], ...] = (
    ("ROOT r = f32[8,8] negate(p), sharding=@", "{devices=[2,1]<=[2]}"),
    ("ROOT r = f32[8,8] all-reduce(p), replica_groups=@, to_apply=sum", "{{0,1},{2,3}}"),
    ("ROOT r = f32[8,8] all-reduce(p), replica_groups=@, to_apply=sum", "[2,2]<=[4]T(0)"),
    ("ROOT r = f32[8,8] collective-permute(p), source_target_pairs=@", "{{0,1},{1,0}}"),
    ("ROOT r = f32[8,8] transpose(p), dimensions=@", "{1,0}"),
    ("ROOT r = f32[4,8] slice(p), slice=@", "{[0:8:2], [0:8]}"),
    ("z = f32[] constant(0)\n  ROOT r = f32[10,23] pad(p, z), padding=@", "1_1x0_1_2"),
    ("z = f32[] constant(0)\n  ROOT r = f32[4,4] reduce-window(p, z), window=@, to_apply=sum", "{size=2x2 stride=2x2}"),
    ("k = f32[3,3,1,1] constant({...})\n  i = f32[1,8,8,1] reshape(p)\n  ROOT r = f32[1,8,8,1] convolution(i, k), "
     "window={size=3x3 pad=1_1x1_1}, dim_labels=@", "b01f_01io->b01f"),
    ("ROOT r = f32[8,8] dot(p, p), @", "lhs_contracting_dims={1}, rhs_contracting_dims={0}"),
    ("i = s32[2,1] constant({{0},{1}})\n  ROOT r = f32[2,8] gather(p, i), @", "offset_dims={1}, "
     "collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,8}"),
    ("ROOT r = f32[8,8] negate(p), frontend_attributes=@", '{a="b",c={x}}'),
    ("ROOT r = f32[8,8] negate(p), metadata=@", '{op_name="jit(f)/neg" source_file="a.py" source_line=3}'),
    ("ROOT r = f32[8,8] custom-call(p), custom_call_target=@", '"x", backend_config={"a":[1]}'),
    ("ROOT r = (f32[8], f32[2]) custom-call(p), @", 'custom_call_target="x", output_to_operand_aliasing={{0}: (0,{})}'),
    ("ROOT r = s32[2,2] constant(@)", "{{1,2},{3,-4}}"),
    ("ROOT r = f8e4m3fn[3] constant(@)", "{1, nan, -0.5}"),
    ("ROOT r = c64[2] constant(@)", "{(1, 2), (nan, -inf)}"),
    ("ROOT r = (f32[], pred[2]) constant(@)", "(1e-3, {1, false})"),
    ("ROOT r = f32[8,8] parameter(1), @", "parameter_replication={true}"),
    ("ROOT r = f32[8,8] rng-bit-generator(p), algorithm=@", "rng_default"),
    ("ROOT r = @ negate(p)", "f32[8,8]{1,0:T(8,128)S(1)}"),
)  # fmt: skip


def _check_attribute(data: bytes) -> None:
    if data:
        before, _, after = _CONTEXTS[data[0] % len(_CONTEXTS)][0].partition("@")
        body = f"{before}{decode(data[1:])}{after}"
        _check_hlo(
            "HloModule m\nsum {\n  x = f32[] parameter(0)\n  y = f32[] parameter(1)\n  ROOT s = f32[] add(x, y)\n}\n"
            f"ENTRY e {{\n  p = f32[8,8] parameter(0)\n  {body}\n}}\n".encode("utf-8", "surrogateescape")
        )


_HEADERS = (
    "input_output_alias={ {0}: (0, {}, may-alias) }",
    "entry_computation_layout={(f32[8,8]{1,0})->(f32[8,8]{1,0})}",
    "buffer_donor={ (0, {}) }",
    "is_scheduled=true, num_partitions=2, replica_count=2",
    'frontend_attributes={a="b"}, allow_spmd_sharding_propagation_to_output={true}',
)


def _check_header(data: bytes) -> None:
    entry = b"ENTRY e {\n  p = f32[8,8] parameter(0)\n  ROOT r = (f32[8,8]) tuple(p)\n}\n"
    _check_hlo(b"HloModule m, " + data + b"\n" + entry)


def _check_shape(data: bytes) -> None:
    text = decode(data)
    for parse in (parse_shape, parse_layout, lambda each: read_shape(each)[0]):
        try:
            found = parse(text)
        except DiagnosticError:
            continue
        assert parse(str(found)) == found, f"{found} is read as another value"


def _check_window(data: bytes) -> None:
    text = decode(data)
    for rank in (0, 2):
        try:
            window = parse_window(text, rank)
        except ValueError:  # the operation's constraint makes a diagnostic of it
            continue
        assert parse_window(format_window(window), rank) == window
    try:
        parse_labels(text)
    except ValueError:
        return


def _check_scalar(data: bytes) -> None:
    if not data:
        return
    names = sorted(name for name, kind in ELEMENT_TYPES.items() if kind.bits)
    element_type = ELEMENT_TYPES[names[data[0] % len(names)]]
    try:
        bits = parse_scalar(element_type, decode(data[1:]))
        written = format_scalar(element_type, bits)
    except ValueError:
        return
    assert parse_scalar(element_type, written) == bits, f"{written} is read as other bits"


def _check_file(data: bytes) -> None:
    """Checks that a file of any format is read as the kind that it is found to be; MLIR is not run."""
    with _file(data) as path:
        kind = kind_of_module(str(path))
    if data.startswith(COMPRESSED):
        data = decompressed(data, "f")
    found = find_kind(data, "f")
    assert kind in (None, found), f"a directory's file is {kind}, the file alone {found}"
    if found == "hlo text":
        assert parse_bytes(data, "f").dialect == "hlo"


def _check_compressed(data: bytes) -> None:
    content = decompressed(data, "f")
    assert content.startswith(start_of_content(data, _START, "f"))


def _check_recompressed(data: bytes) -> None:
    """Checks that a file says the same compressed, twice in a row, or followed by other bytes."""
    for compress in (gzip.compress, lzma.compress):
        packed = compress(data)
        assert decompressed(packed, "f") == data
        assert decompressed(packed * 2, "f") == data * 2
        _accept(partial(decompressed, packed + data, "f"))


def _accept(read: Callable[[], object]) -> None:
    try:
        read()
    except DiagnosticError:
        return


def _check_log(data: bytes) -> None:
    text = decode(data)
    found = find_in_log(text, "f")
    if found is not None:
        assert found.first_line <= text.count("\n") + 1
        module = parse_module(found.text, "f", first_line=found.first_line)
        assert module.text() == found.text


def _check_proto(data: bytes) -> None:
    is_module = is_proto_of_module(data)
    try:
        found = find_proto(data)
        assert is_module
        assert len(found.module) <= len(data)
    except MalformedProtoError:
        assert not is_module
    read_recorded(data, "f")


def _check_npz(data: bytes) -> None:
    """Reads a whole archive, or (first byte even) an archive whose only member has these bytes."""
    if data[:1] and data[0] % 2 == 0:
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            archive.writestr("in0.npy", data[1:])
        data = b"\0" + buffer.getvalue()
    with _file(data[1:]) as path:
        for array in read_arrays(str(path), "in"):
            if np.prod(array.shape, dtype=float) * array.dtype.itemsize < 1e8:
                assert np.asarray(array).shape == array.shape


def _check_msgpack(data: bytes) -> None:
    with _file(data) as path:
        for name, array in read_msgpack(str(path)).items():
            assert np.asarray(array).shape == array.shape, name


def _check_checkpoint(data: bytes) -> None:
    """Reads a checkpoint: its list of arrays, the description of one, and the data of that, with zero bytes between."""
    listed, described, part = (*data.split(b"\0", 2), b"", b"")[:3]
    with tempfile.TemporaryDirectory(dir=_MEMORY) as folder:
        Path(folder, "_METADATA").write_bytes(listed)
        Path(folder, "a").mkdir()
        Path(folder, "a", ".zarray").write_bytes(described)
        Path(folder, "a", "0").write_bytes(part)
        for array in read_orbax(folder).values():
            if np.prod(array.shape, dtype=float) * array.dtype.itemsize < 1e8:
                assert np.asarray(array).shape == array.shape


def _check_frame(data: bytes) -> None:
    """Reads a frame that a child has taken over: a plan, a file to write, or the fields of a result."""
    for read in (parse_plan, parse_named_file, partial(_fields, DONE), partial(_planned, PLAN)):
        try:
            read(bytearray(data))
        except MalformedFrameError:
            continue


def _check_parts(data: bytes) -> None:
    """Reads what says how arrays are placed on devices, figures of compilations, and the description of a GPU."""
    for read in (read_partition, read_trials, lambda text, name: described_gpu(name, text)):
        _accept(partial(read, decode(data), "f"))


# os.makedirs recurses.
_LONGEST_NAME = 500


def _check_directory(data: bytes) -> None:
    """Finds the modules of a directory of files, folders (without content) and links (`>` and a path)."""
    with tempfile.TemporaryDirectory(dir=_MEMORY) as folder:
        parts = data.split(b"\0")
        for name, content in zip(parts[::2], parts[1::2], strict=False):
            inside = os.path.normpath(b"/" + name[:_LONGEST_NAME]).lstrip(b"/")
            path = os.path.join(folder, os.fsdecode(inside))
            with suppress(OSError):
                os.makedirs(os.path.dirname(path), exist_ok=True)
                if content.startswith(b">"):
                    os.symlink(content[1:], os.fsencode(path))
                elif content:
                    Path(path).write_bytes(content)
                else:
                    os.mkdir(path)
        found = find_inputs([folder]).modules
        assert len({each.relative for each in found}) == len(found), "two modules have the same name"
        for each in found:
            assert not leaves_directory(each.path, folder), f"{each.inner} leaves the directory"
            _accept(each.data)
        assert pair_inputs(found, found).alone == (), "a directory is not paired with itself"
        assert set(last_stages(found)) <= set(found)


_STORES = ("memory://{0}", "zip://{0}::memory://{1}", "tar://{0}::memory://{1}", "simplecache::memory://{0}")


def _check_url(data: bytes) -> None:
    """Finds and reads files of a store in memory by a URL (no byte chooses another store)."""
    store, name, other, content = (*data.split(b"\0", 3), b"", b"", b"", b"")[:4]
    words = [decode(each).replace(":", "") for each in (name, other)]
    _accept(partial(write_url, f"memory://{words[-1]}", content))
    url = _STORES[sum(store) % len(_STORES)].format(*words)
    _accept(lambda: [read_url(each) for each in matching_urls(url)])
    assert local_path(url) is None


def _check_pipeline(data: bytes) -> None:
    pipeline = Pipeline.parse(decode(data))
    assert Pipeline.parse(str(pipeline)) == pipeline, f"{pipeline} is read as another pipeline"


def _check_tables(data: bytes) -> None:
    with _file(data) as path:
        for read in (read_layout_rules, read_pipelines):
            _accept(partial(read, path))


_NEGATED = "HloModule m\nENTRY e {\n  p = f32[4] parameter(0)\n  a = f32[4] negate(p)\n  ROOT n = f32[4] negate(a)\n}\n"
_COPIED = "HloModule m\nENTRY e {\n  p = f32[4] parameter(0)\n  ROOT c = f32[4] copy(p)\n}\n"


def _check_certificate(data: bytes) -> None:
    certificate = read_certificate(decode(data))
    assert read_certificate(certificate_text(certificate)).steps.__len__() == len(certificate.steps)
    modules = [parse_module(_NEGATED), parse_module(_COPIED)]
    replay(modules, certificate)


def _check_rows(data: bytes) -> None:
    for row in from_lines(data):
        assert isinstance(row["name"], str)


def _check_message(data: bytes) -> None:
    rest = io.BytesIO(data)

    def read(count: int) -> bytes:
        part = rest.read(min(count, len(data) + 1))
        if len(part) < count:
            raise MalformedMessageError("cut short")
        return part

    try:
        decode_results(decode_message(read, largest=1000), 1)
    except MalformedMessageError:
        return


def _check_pairs(data: bytes) -> None:
    pairs = parse_pairs(decode(data), "f")
    if not any("\n" in name for pair in pairs for name in pair):
        again = "\n".join(shlex.join(pair) for pair in pairs)
        assert parse_pairs(again, "f") == pairs, "the pairs are read as others"


def _check_dump_name(data: bytes) -> None:
    text = decode(data)
    found = parse_dump_name(text)
    assert isinstance(found.order, tuple)
    found.is_stage(text)
    found.is_module(text)
    assert isinstance(found.step_name, str)


def _check_comments(data: bytes) -> None:
    text = decode(data)
    assert b"".join(chunk.data + chunk.separator for chunk in split_input(data)) == data
    strip_comments(text)
    source = Source("f", text)
    unmet(expectations(source), ())
    assert all(each.line is None or isinstance(each.line, int) for each in expectations(source))


# Passes that a reader of files runs by itself, or that rewrite every kind of instruction.
_PASSES = tuple(
    map(
        Pipeline.parse,
        (
            "annotate-layouts{target=tpu-v5e},expand-tiling",
            "strip-layouts",
            "make-portable",
            "expand-custom-calls",
            "form-bitcasts,expand-bitcasts",
            "inline-fusions,normalize-layouts",
            "lower-convolutions,legalize-types",
        ),
    )
)


def _check_passes(data: bytes) -> None:
    """Runs passes on each module that verifies: each pass returns one that verifies, or DiagnosticError."""
    module = parse_module(decode(data))
    for pipeline in _PASSES:
        _run_pipeline(pipeline, module)


def _run_pipeline(pipeline: Pipeline, module: Module) -> None:
    try:
        found = pipeline.run(module).module
    except PassError as error:
        raise AssertionError(f"{error.step}: {error.diagnostics[0].message}") from error
    except DiagnosticError:
        return
    assert parse_module(found.text()).text() == found.text()


_EXPANDED = Pipeline.parse("expand-custom-calls")
_CALL = """HloModule m, is_scheduled=true
ENTRY e {
  a = f32[8,8] parameter(0)
  b = f32[4,8,8] parameter(1)
  c = s32[8] parameter(2)
  d = bf16[] parameter(3)
  u = u32[2,8,128] parameter(4)
  ROOT r = RESULT custom-call(OPERANDS), custom_call_target="TARGET", MORE
}
"""
_CALLED = sorted(EXPANSIONS)


def _check_custom_call(data: bytes) -> None:
    """Expands a known custom call (the first byte) of `result|operands|attributes`."""
    parts = decode(data[1:]).split("|")
    if len(parts) == len(("RESULT", "OPERANDS", "MORE")):
        target = _CALLED[data[0] % len(_CALLED)]
        words = {"RESULT": parts[0], "OPERANDS": parts[1], "TARGET": target, "MORE": parts[2]}
        module = parse_module(re.sub("RESULT|OPERANDS|TARGET|MORE", lambda found: words[found[0]], _CALL))
        _run_pipeline(_EXPANDED, module)


def _check_report(data: bytes) -> None:
    """Writes every form of the memory report of a module."""
    report = memory_report(parse_module(decode(data)))
    terminal_page(report, 80)
    html_page(report)
    format_graphviz(report)
    json.dumps(format_model_explorer(report))
    json.dumps(report.as_json())


_PROOF = Options(engines=("proof",), proof_seconds=1.0)
_STRIP = Pipeline.parse("strip-layouts")


def _check_proof(data: bytes) -> None:
    """Looks for a proof that a module computes the same as itself without layouts."""
    module = parse_module(decode(data))
    found = compare_modules(module, _STRIP.run(module).module, _PROOF)
    assert found.verdict in ("equal", "unknown"), f"a module and itself without layouts are {found.verdict}"


TARGETS: dict[str, Target] = {
    "hlo": Target(_check_hlo, ".hlo"),
    "passes": Target(_check_passes, ".hlo"),
    "custom_calls": Target(_check_custom_call),
    "reports": Target(_check_report, ".hlo"),
    "proofs": Target(_check_proof, ".hlo"),
    "attributes": Target(_check_attribute),
    "headers": Target(_check_header),
    "shapes": Target(_check_shape),
    "windows": Target(_check_window),
    "scalars": Target(_check_scalar),
    "files": Target(_check_file, ".hlo"),
    "logs": Target(_check_log),
    "compressed": Target(_check_compressed),
    "recompressed": Target(_check_recompressed),
    "protos": Target(_check_proto),
    "npz": Target(_check_npz),
    "msgpack": Target(_check_msgpack),
    "checkpoints": Target(_check_checkpoint),
    "frames": Target(_check_frame),
    "parts": Target(_check_parts),
    "directories": Target(_check_directory),
    "urls": Target(_check_url),
    "pipelines": Target(_check_pipeline),
    "tables": Target(_check_tables, ".toml"),
    "certificates": Target(_check_certificate),
    "pairs": Target(_check_pairs),
    "rows": Target(_check_rows),
    "parquet": Target(from_parquet),
    "messages": Target(_check_message),
    "dump_names": Target(_check_dump_name),
    "comments": Target(_check_comments, ".hlo"),
}
