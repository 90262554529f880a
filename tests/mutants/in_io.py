"""Injected faults in reading of files: protocol buffers and compressed files."""

from tests.mutants.model import Mutant

MUTANTS = (
    Mutant(
        "read_varint",
        "7 * count",
        "8 * count",
        ("tests/io/test_protos.py",),
    ),
    Mutant(
        "read_fields",
        "len(data) - position",
        "len(data)",
        ("tests/io/test_protos.py",),
    ),
    Mutant(
        "read_varint",
        "value & _UINT64",
        "value",
        ("tests/io/test_protos.py",),
    ),
    Mutant(
        "check_ratio",
        "size > most",
        "False",
        ("tests/io/test_decompression.py",),
    ),
    Mutant(
        "check_ratio",
        "max(ANY_RATIO_BYTES, LARGEST_RATIO * compressed_size)",
        "ANY_RATIO_BYTES + LARGEST_TEXT",
        ("tests/io/test_decompression.py",),
    ),
    Mutant(
        "_decompressors",
        "lzma.LZMADecompressor(lzma.FORMAT_XZ, _LARGEST_WINDOW)",
        "lzma.LZMADecompressor(lzma.FORMAT_XZ)",
        ("tests/io/test_decompression.py",),
    ),
    Mutant(
        "_zstandard",
        "library.ZstdDecompressor(max_window_size=_LARGEST_WINDOW)",
        "library.ZstdDecompressor(max_window_size=1 << 31)",
        ("tests/io/test_decompression.py",),
    ),
    Mutant(
        "io:_steps",
        "position -= len(stream.unused_data)",
        "position = len(data)",
        ("tests/io/test_decompression.py",),
    ),
    Mutant(
        "io:_steps",
        'raise EOFError("they end too soon")',
        "return",
        ("tests/io/test_decompression.py",),
    ),
    Mutant(
        "_found_in",
        "os.path.islink(file) and leaves_directory(file, path)",
        "False",
        ("tests/io/test_inputs.py",),
    ),
    Mutant(
        "Input.data",
        "read_bytes(self.path, self.within)",
        "read_bytes(self.path)",
        ("tests/io/test_inputs.py",),
    ),
    Mutant(
        "_looked_through",
        "read_fields(view)",
        "list(read_fields(view))",
        ("tests/io/test_protos.py",),
    ),
    Mutant(
        "_parse_mlir",
        "decode(checked) if text is None else text",
        "decode(checked)",
        ("tests/execution/test_reading.py::test_the_text_of_a_worker_does_not_replace_a_text",),
    ),
    Mutant(
        "BodyReader._lines",
        "count * _SHORTEST_LINE > end - position",
        "False",
        ("tests/io/test_cost_of_reading.py::test_short_lines_take_memory_in_proportion",),
    ),
    Mutant(
        "Source._line_starts",
        'starts = array("q", [0])',
        "starts: Any = [0]",
        ("tests/io/test_cost_of_reading.py::test_short_lines_take_memory_in_proportion",),
    ),
    Mutant(
        "find_in_log",
        "not wanted or any(map(dump.is_module, wanted))",
        "True",
        ("tests/io/test_containers.py",),
    ),
)
