from __future__ import annotations

import tracemalloc

import pytest
from hypothesis import given, strategies as st

from dialect_utils.io.protos import (
    BYTES,
    VARINT,
    MalformedProtoError,
    find_proto,
    is_proto_of_module,
    read_fields,
    read_varint,
)


def varint(value: int) -> bytes:
    low, rest = value & 0x7F, value >> 7
    return bytes([low | 0x80]) + varint(rest) if rest else bytes([low])


def field(number: int, value: bytes | int) -> bytes:
    if isinstance(value, int):
        return varint(number << 3 | VARINT) + varint(value)
    return varint(number << 3 | BYTES) + varint(len(value)) + value


@given(st.integers(0, (1 << 64) - 1))
def test_integers_are_read_as_they_are_written(value: int) -> None:
    data = memoryview(varint(value) + b"\x01")
    assert read_varint(data, 0) == (value, len(data) - 1)


def test_integers_are_truncated_to_64_bits() -> None:
    assert read_varint(memoryview(varint((1 << 64) + 5)), 0) == (5, 10)


@given(st.lists(st.tuples(st.integers(1, 1000), st.binary(max_size=300) | st.integers(0, 1 << 63))))
def test_fields_are_read_as_they_are_written(written: list[tuple[int, bytes | int]]) -> None:
    data = b"".join(field(number, value) for number, value in written)
    read = [
        (each.number, each.value if isinstance(each.value, int) else bytes(each.value))
        for each in read_fields(memoryview(data))
    ]
    assert read == written


@given(st.binary())
def test_other_bytes_are_malformed_or_fields_and_nothing_else(data: bytes) -> None:
    try:
        fields = list(read_fields(memoryview(data)))
    except MalformedProtoError:
        return
    assert all(each.number > 0 for each in fields)


@pytest.mark.parametrize(
    "data", [b"\x80", b"\x0a", b"\x0a\x02a", b"\x09\x00", b"\x0b", b"\x00\x00", b"\x08" + b"\xff" * 11]
)
def test_truncated_or_unknown_fields_are_malformed(data: bytes) -> None:
    with pytest.raises(MalformedProtoError):
        list(read_fields(memoryview(data)))


def test_wrong_kinds_of_fields_are_malformed() -> None:
    number, text = read_fields(memoryview(field(1, 5) + field(2, b"a")))
    assert number.integer == 5
    assert bytes(text.bytes) == b"a"
    with pytest.raises(MalformedProtoError):
        assert number.bytes
    with pytest.raises(MalformedProtoError):
        assert text.integer


MODULE = field(1, b"m") + field(3, field(1, b"e"))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (MODULE, "HloModuleProto"),
        (field(1, MODULE), "HloProto"),
        (field(1, MODULE) + field(3, b""), "HloProto"),
        (field(1, field(1, MODULE)) + field(2, b"") + field(4, b"Host"), "HloSnapshot"),
        (field(1, MODULE) + field(2, b"") + field(3, 1), "HloUnoptimizedSnapshot"),
    ],
)
def test_the_module_is_found_in_its_outer_messages(data: bytes, message: str) -> None:
    found = find_proto(data)
    assert found.message == message
    assert bytes(found.module) == MODULE
    assert is_proto_of_module(data)


@pytest.mark.parametrize(
    "data", [b"", field(1, b"m"), field(1, field(1, field(1, MODULE))), MODULE[:-1], field(1, b"m") + field(3, 1)]
)
def test_bytes_without_computations_hold_no_module(data: bytes) -> None:
    with pytest.raises(MalformedProtoError):
        find_proto(data)
    assert not is_proto_of_module(data)


def test_a_message_of_many_small_fields_takes_no_memory_and_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    data = field(1, b"m") + field(3, b"c") + field(7, 1) * 100_000
    tracemalloc.start()
    try:
        assert find_proto(data).message == "HloModuleProto"
        assert tracemalloc.get_traced_memory()[1] < 100_000
    finally:
        tracemalloc.stop()
    monkeypatch.setattr("dialect_utils.io.protos.MOST_FIELDS", 99_999)
    with pytest.raises(MalformedProtoError, match="more than 99999 fields"):
        find_proto(data)
