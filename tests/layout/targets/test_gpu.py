"""GPUs as targets: their layouts, the facts of their descriptions, and descriptions of the user's own."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dialect_utils.layout import parse_element_type
from dialect_utils.layout.targets.gpu import GPUS, described_gpu
from dialect_utils.layout.targets.known import TARGETS, allocation_bytes, default_layout, laid_out, parse_target
from dialect_utils.layout.text.parse import parse_array_shape
from dialect_utils.text import DiagnosticError
from relayout.cli import main


@pytest.mark.parametrize(
    ("shape", "layout", "size"),
    [
        ("f32[3,5]", "{1,0}", 60),
        ("bf16[30,200,7]", "{2,1,0}", 84000),
        ("pred[9]", "{0}", 9),
        ("s4[3,5]", "{1,0:E(4)}", 8),
        ("u2[5]", "{0:E(2)}", 2),
        ("c64[2,2]", "{1,0}", 32),
        ("f32[]", "{}", 4),
        ("f32[0,4]", "{1,0}", 0),
    ],
)
def test_arrays_are_in_descending_order_without_tiles(shape: str, layout: str, size: int) -> None:
    array = parse_array_shape(shape)
    for gpu in GPUS:
        found = laid_out(array, None, gpu)
        assert str(found) == (shape + layout if array.rank else shape)
        assert allocation_bytes(array, gpu) == size


def test_another_order_is_kept() -> None:
    assert str(laid_out(parse_array_shape("s4[3,5]"), (0, 1), "gpu-h100")) == "s4[3,5]{0,1:E(4)}"


def test_the_peaks_are_those_of_nvidias_data_sheets() -> None:
    # Teraflops of dense bf16, and gigabytes per second. A data sheet takes a lower clock than the highest one.
    sheets = {
        "a100": (312, 2039),
        "h100": (989, 3350),
        "h200": (989, 4800),
        "b200": (2250, 7700),
        "rtx6000": (504, 1792),
    }
    assert {f"gpu-{name}" for name in sheets} == {each.name for each in GPUS}
    for name, (teraflops, gigabytes) in sheets.items():
        gpu = TARGETS[f"gpu-{name}"]
        assert gpu.peak_flops / 1e12 == pytest.approx(teraflops, rel=0.09)
        assert gpu.peak_bytes / 1e9 == pytest.approx(gigabytes, rel=0.01)


def test_a_file_of_the_user_is_a_target(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = GPUS[0].description.replace("core_count: 108", "core_count: 54")
    file = tmp_path / "half.txtpb"
    file.write_text(text)
    found = parse_target(str(file))
    assert found.peak_flops == GPUS[0].peak_flops / 2
    assert found.topology(4) == {"topology_name": "gpu", "topology": "1x1x4", "target_config": text}
    assert default_layout(parse_element_type("f32"), (3, 5), found).minor_to_major == (1, 0)
    assert main(["explain", "f32[3,5]", "--target", str(file)]) == 0
    assert "f32[3,5]{1,0}" in capsys.readouterr().out


@pytest.mark.parametrize("lacking", ["core_count", "clock_rate_ghz", "memory_bandwidth", "device_memory_size", "major"])
def test_a_description_without_a_fact_is_refused(lacking: str) -> None:
    text = GPUS[0].description.replace(f"{lacking}:", "other:")
    with pytest.raises(DiagnosticError, match=f"my is no description of a GPU: it has no {lacking}"):
        described_gpu("my", text)


def test_an_unknown_architecture_has_no_peak() -> None:
    assert described_gpu("my", GPUS[0].description.replace("major: 8", "major: 99")).peak_flops == 0


@pytest.mark.parametrize("number", ["0", "1.2.3", "...", "1e400", "1" * 400])
def test_a_description_has_finite_positive_numbers(number: str) -> None:
    for field_name in ("core_count", "clock_rate_ghz", "memory_bandwidth", "device_memory_size"):
        text = re.sub(rf"\b{field_name}: .*", f"{field_name}: {number}", GPUS[0].description)
        with pytest.raises(DiagnosticError, match=f"f.txtpb.* {field_name}"):
            described_gpu("f.txtpb", text)
