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
        "dialect_utils/io/containers.py",
        "if len(data) > LARGEST_TEXT:",
        "if False:",
        ("tests/io/test_containers.py",),
    ),
    Mutant(
        "dialect_utils/io/containers.py",
        "if len(found) < library.frame_content_size(data):",
        "if False:",
        ("tests/io/test_containers.py",),
    ),
    Mutant(
        "dialect_utils/io/files.py",
        "        text = decode(checked) if text is None else text",
        "        text = decode(checked)",
        ("tests/execution/test_reading.py::test_the_text_of_a_worker_does_not_replace_a_text",),
    ),
)
