"""What is given where a module is read and is none: files of other programs, and what to do instead."""

from __future__ import annotations

import re
from dataclasses import dataclass

_LOOKED_AT = 1 << 14

_LOWER = "jax.jit(f).lower(...).as_text() prints the StableHLO of a function"
_DUMP = "XLA_FLAGS=--xla_dump_to=DIR writes the HLO of what is compiled"
_DUMP_TEXT = "XLA_FLAGS='--xla_dump_to=DIR --xla_dump_hlo_as_text' writes it as text"
_TORCH = "torch_xla.stablehlo.exported_program_to_stablehlo(...).get_stablehlo_text() returns StableHLO"
_TENSORFLOW = "tf.function(f, jit_compile=True).experimental_get_compiler_ir(*args)(stage='hlo') returns HLO"
_UTF_8 = "convert it to UTF-8"


@dataclass(frozen=True, slots=True)
class Format:
    """A format that holds no module: how its files begin, what it is called, and what to do instead."""

    begin: bytes
    name: str
    hint: str

    def is_of(self, data: bytes) -> bool:
        """Is true where the data begin as files of this format do."""
        return re.match(self.begin, data, re.DOTALL) is not None


_FORMATS = (
    Format(rb"PK\x03\x04", "a ZIP archive (.npz, .pt2, .keras)", "arrays go to --inputs; a module is text or a proto"),
    Format(rb"\x93NUMPY", "an array of numpy's", "arrays go to --inputs, as an .npz of in0, in1, ..."),
    Format(rb"\x80[\x02-\x05]", "a pickle of Python's", _LOWER),
    Format(rb"\x08\x01\x12", "a SavedModel of TensorFlow's", _TENSORFLOW),
    Format(rb"\x7fELF|BC\xc0\xde", "compiled code", _DUMP),
    Format(rb"\xff\xfe|\xfe\xff|(?:[^\0]\0){8}|(?:\0[^\0]){8}", "UTF-16", _UTF_8),
    Format(rb'\{.*"nbformat"|\{\s*"cells"', "a notebook", _LOWER),
    Format(rb'\{\s*["}]|\[\s*[\[\]{"\d-]', "JSON", _LOWER),
    Format(rb"\{\s*lambda\b", "a jaxpr", _LOWER),
    Format(rb"ExportedProgram:|class GraphModule\b|graph\(\):", "a program of PyTorch's", _TORCH),
    Format(
        rb"(?:#[^\n]*\n\s*)*(?:import \w|from [\w.]+ import\b|(?:async )?def \w+\(|class \w+[(:]|\"\"\")",
        "Python",
        _LOWER,
    ),
    Format(rb"; ModuleID|source_filename = |define [^\n]*@|target (?:datalayout|triple)", "LLVM's IR", _DUMP),
    Format(rb"(?://[^\n]*\n\s*)*\.version \d", "PTX", _DUMP),
    Format(rb"(?:strict )?digraph\b", "a drawing for Graphviz", _DUMP_TEXT),
    Format(rb'(?:name|entry_computation_name): "', "a protocol buffer as text", _DUMP_TEXT),
    Format(rb"BufferAssignment:", "XLA's buffer assignment", "the module is the file without it in its name"),
    Format(rb"<(?:!DOCTYPE|html|\?xml|svg)", "a web page or XML", "download the file itself"),
)


def other_format(data: bytes) -> Format | None:
    """Returns the format of bytes that hold no module, where it is one that people take for a module's; else None."""
    start = data[:_LOOKED_AT].removeprefix(b"\xef\xbb\xbf").lstrip(b" \t\r\n")
    return next((each for each in _FORMATS if each.is_of(start)), None)
