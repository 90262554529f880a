"""Whether convolutions and windows fit their arrays. Source: xla/service/shape_inference.cc, xla/window_util.cc."""

from __future__ import annotations

from collections.abc import Sequence

from dialect_utils.hlo import Instruction
from dialect_utils.hlo.inference.windowed import positions
from dialect_utils.layout import ArrayShape, Shape
from dialect_utils.ops.window import WindowDimension, parse_window


def convolution_problem(instruction: Instruction, shape: Shape, operands: Sequence[Shape]) -> str | None:
    """Returns what is wrong with a convolution's labels, window, groups or shapes, or None."""
    arrays = [array for array in (*operands, shape) if isinstance(array, ArrayShape)]
    text = instruction.attribute("dim_labels") or ""
    if len(arrays) != 3:
        return "convolution is for arrays"
    labels = text.replace("->", "_").split("_")
    ranks = [array.rank for array in arrays]
    if len(labels) != 3 or [len(each) for each in labels] != ranks or len(set(ranks)) != 1:
        return f"the labels {text} do not fit arrays of rank {', '.join(map(str, ranks))}"
    spatial = ranks[0] - 2
    digits = "".join(map(str, range(spatial)))
    wanted = [sorted(each + digits) for each in ("bf", "io", "bf")]
    if spatial < 0 or spatial > 9 or [sorted(each) for each in labels] != wanted:
        return f"the labels {text} do not name each dimension once"
    window = _window(instruction, spatial)
    if isinstance(window, str):
        return window
    return _convolved(instruction, labels, arrays, window)


def _convolved(
    instruction: Instruction, labels: Sequence[str], arrays: Sequence[ArrayShape], window: Sequence[WindowDimension]
) -> str | None:
    sizes = [dict(zip(label, array.dimensions, strict=True)) for label, array in zip(labels, arrays, strict=True)]
    lhs, rhs, out = sizes
    features = _count(instruction, "feature_group_count")
    batches = _count(instruction, "batch_group_count")
    if features < 1 or batches < 1 or (features > 1 and batches > 1):
        return f"convolution in {features} groups of features and {batches} of batches"
    if lhs["f"] != rhs["i"] * features:
        return f"convolution of {lhs['f']} features in {features} groups by a kernel of {rhs['i']}"
    if rhs["o"] % features or rhs["o"] % batches or lhs["b"] % batches:
        return f"convolution whose {rhs['o']} outputs and {lhs['b']} batches are not divided by its groups"
    expected = {"b": lhs["b"] // batches, "f": rhs["o"]}
    for number, each in enumerate(window):
        key = str(number)
        if each.size != rhs[key]:
            return f"the window has {each.size} elements in dimension {key}, but the kernel {rhs[key]}"
        expected[key] = positions(lhs[key], each)
    if expected != out:
        found = [expected[label] for label in labels[2]]
        return f"convolution gives dimensions {found}, but the shape is {arrays[2]}"
    return None


def _count(instruction: Instruction, name: str) -> int:
    found = instruction.ints(name)
    return found[0] if found else 1


def reduce_window_problem(instruction: Instruction, shape: Shape, operands: Sequence[Shape]) -> str | None:
    """Returns what is wrong with the window of a reduce-window, or None."""
    first = operands[0] if operands else None
    result = shape if isinstance(shape, ArrayShape) else getattr(shape, "elements", (None,))[0]
    if not isinstance(first, ArrayShape) or not isinstance(result, ArrayShape):
        return None
    window = _window(instruction, first.rank)
    if isinstance(window, str):
        return window
    wanted = tuple(positions(size, each) for size, each in zip(first.dimensions, window, strict=True))
    return None if result.dimensions == wanted else f"reduce-window gives {list(wanted)}, but the shape is {result}"


def select_and_scatter_problem(instruction: Instruction, shape: Shape, operands: Sequence[Shape]) -> str | None:
    """Returns what is wrong with the window or the shapes of a select-and-scatter, or None."""
    array, source, _ = operands
    if not isinstance(array, ArrayShape) or not isinstance(source, ArrayShape) or not isinstance(shape, ArrayShape):
        return "select-and-scatter is for arrays"
    window = _window(instruction, array.rank)
    if isinstance(window, str):
        return window
    wanted = tuple(positions(size, each) for size, each in zip(array.dimensions, window, strict=True))
    if source.dimensions != wanted:
        return f"select-and-scatter needs a source of dimensions {list(wanted)}, found {source}"
    if shape.dimensions != array.dimensions:
        return f"select-and-scatter gives dimensions {list(array.dimensions)}, but the shape is {shape}"
    return None


def _window(instruction: Instruction, rank: int) -> tuple[WindowDimension, ...] | str:
    """Returns the window, or why it is none."""
    text = instruction.attribute("window")
    if text is None and instruction.opcode != "convolution" and rank:
        return f"{instruction.opcode} needs a window of rank {rank}"
    try:
        window = parse_window(text, rank)
    except (ValueError, IndexError):
        return f"the window {text} is none of rank {rank}"
    if len(window) != rank:
        return f"the window {text} has rank {len(window)}, but its array {rank}"
    positive = (value for each in window for value in (each.size, each.stride, each.lhs_dilation, each.rhs_dilation))
    if any(value < 1 for value in positive):
        return f"the window {text} has a size, stride or dilation below 1"
    return window
