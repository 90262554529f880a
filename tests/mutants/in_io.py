"""Injected faults in reading of files: protocol buffers and compressed files."""

from tests.mutants.model import Mutant

MUTANTS = (
    Mutant(
        "dialect_utils/io/protos.py",
        "value |= (byte & 0x7F) << (7 * count)",
        "value |= (byte & 0x7F) << (8 * count)",
        ("tests/io/test_protos.py",),
    ),
    Mutant(
        "dialect_utils/io/protos.py",
        "if size > len(data) - position:",
        "if size > len(data):",
        ("tests/io/test_protos.py",),
    ),
    Mutant(
        "dialect_utils/io/protos.py",
        "return value & _UINT64, position + count + 1",
        "return value, position + count + 1",
        ("tests/io/test_protos.py",),
    ),
    Mutant(
        "dialect_utils/io/decompression.py",
        "    if size > most:",
        "    if False:",
        ("tests/io/test_decompression.py",),
    ),
    Mutant(
        "dialect_utils/io/decompression.py",
        "max(ANY_RATIO_BYTES, LARGEST_RATIO * compressed_size)",
        "ANY_RATIO_BYTES + LARGEST_TEXT",
        ("tests/io/test_decompression.py",),
    ),
    Mutant(
        "dialect_utils/io/decompression.py",
        "lzma.LZMADecompressor(lzma.FORMAT_XZ, _LARGEST_WINDOW)",
        "lzma.LZMADecompressor(lzma.FORMAT_XZ)",
        ("tests/io/test_decompression.py",),
    ),
    Mutant(
        "dialect_utils/io/decompression.py",
        "max_window_size=_LARGEST_WINDOW",
        "max_window_size=1 << 31",
        ("tests/io/test_decompression.py",),
    ),
    Mutant(
        "dialect_utils/io/decompression.py",
        "position -= len(stream.unused_data)",
        "position = len(data)",
        ("tests/io/test_decompression.py",),
    ),
    Mutant(
        "dialect_utils/io/decompression.py",
        """                if not piece:
                    raise EOFError("they end too soon")
""",
        """                if not piece:
                    return
""",
        ("tests/io/test_decompression.py",),
    ),
    Mutant(
        "dialect_utils/io/inputs.py",
        "if os.path.islink(file) and leaves_directory(file, path):",
        "if False:",
        ("tests/io/test_inputs.py",),
    ),
    Mutant(
        "dialect_utils/io/inputs.py",
        "else read_bytes(self.path, self.within)",
        "else read_bytes(self.path)",
        ("tests/io/test_inputs.py",),
    ),
    Mutant(
        "dialect_utils/io/protos.py",
        "for count, field in enumerate(read_fields(view)):",
        "for count, field in enumerate(list(read_fields(view))):",
        ("tests/io/test_protos.py",),
    ),
    Mutant(
        "dialect_utils/io/files.py",
        "        text = decode(checked) if text is None else text",
        "        text = decode(checked)",
        ("tests/execution/test_reading.py::test_the_text_of_a_worker_does_not_replace_a_text",),
    ),
    Mutant(
        "dialect_utils/hlo/body.py",
        "if count * _SHORTEST_LINE > end - position:",
        "if False:",
        ("tests/io/test_cost_of_reading.py::test_short_lines_take_memory_in_proportion",),
    ),
    Mutant(
        "dialect_utils/text/diagnostics.py",
        'starts = array("q", [0])',
        "starts: Any = [0]",
        ("tests/io/test_cost_of_reading.py::test_short_lines_take_memory_in_proportion",),
    ),
    Mutant(
        "dialect_utils/io/containers.py",
        "if not wanted or any(map(dump.is_module, wanted))",
        "if True",
        ("tests/io/test_containers.py",),
    ),
)
