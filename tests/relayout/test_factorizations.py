"""Factorizations that a compiler computes by another algorithm: errors are measured by the condition of the problem."""

from __future__ import annotations

import pytest

from dialect_utils.execution import Worker
from dialect_utils.io.files import parse_bytes
from dialect_utils.verdict import Options
from relayout.elided import compare_forms

# The scales of the diagonal of R, and the other numbers of R, of a matrix that some sets of data make singular.
QR = """HloModule m HEADER
ENTRY e {
  a = f32[2,7,5] parameter(0)
  q = (f32[2,7,5], f32[2,5]) custom-call(a), custom_call_target="TARGET"
  r = f32[2,7,5] get-tuple-element(q), index=0
  s = f32[2,5,5] slice(r), slice={[0:2], [0:5], [0:5]}
  ROOT t = f32[2,5,5] abs(s)
}
"""
FFT = """HloModule m
ENTRY e {
  x = f32[4,16] parameter(0)
  z = f32[4,16] constant(0)
  c = c64[4,16] complex(x, z)
  f = c64[4,16] fft(c), fft_type=FFT, fft_length={16}
  ROOT r = f32[4,16] real(f)
}
"""
# The sum over k of x[k] cos(2 pi j k / 16), whose factors are rounded.
SUMMED = """HloModule m
ENTRY e {
  x = f32[4,16] parameter(0)
  j = f32[16,16] iota(), iota_dimension=0
  k = f32[16,16] iota(), iota_dimension=1
  jk = f32[16,16] multiply(j, k)
  count = f32[] constant(16)
  counts = f32[16,16] broadcast(count), dimensions={}
  rest = f32[16,16] remainder(jk, counts)
  step = f32[] constant(0.39269908)
  steps = f32[16,16] broadcast(step), dimensions={}
  angle = f32[16,16] multiply(rest, steps)
  cosine = f32[16,16] cosine(angle)
  ROOT r = f32[4,16] dot(x, cosine), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
"""


def verdict(worker: Worker, *texts: str) -> str:
    modules = [parse_bytes(text.encode(), name) for text, name in zip(texts, "ab", strict=True)]
    return compare_forms(modules, Options(engines=("xla",), power=0), worker).verdict


def qr(target: str, header: str = "") -> str:
    return QR.replace("TARGET", target).replace("HEADER", header)


def test_two_algorithms_of_a_factorization_agree(worker: Worker) -> None:
    first, last = qr("Qr"), qr("QrDecompositionBlock", ", is_scheduled=true")
    assert verdict(worker, first, last) == "agrees"


@pytest.mark.parametrize("edit", [("{[0:2], [0:5], [0:5]}", "{[0:2], [1:6], [0:5]}"), ("abs(s)", "negate(s)")])
def test_a_mistake_after_a_factorization_is_different(edit: tuple[str, str], worker: Worker) -> None:
    assert verdict(worker, qr("Qr"), qr("QrDecompositionBlock", ", is_scheduled=true").replace(*edit)) == "different"


def test_a_transform_is_compared_by_the_norm_of_its_rows(worker: Worker) -> None:
    assert verdict(worker, FFT, SUMMED) == "agrees"
    assert verdict(worker, FFT, SUMMED.replace("cosine(angle)", "sine(angle)")) == "different"
    assert verdict(worker, FFT, SUMMED.replace("0.39269908", "0.3927")) == "different"
