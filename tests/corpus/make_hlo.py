"""Prints HLO modules in the styles that XLA knows, into hlo/: a reader must give each back byte for byte.

`python -m tests.corpus.make_hlo`. The files of hlo/ whose names begin with `by_hand` are not made by this script:
they hold what people write and cut (spacing, comments, line ends, fragments), not what XLA prints.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jaxlib._hlo import HloModule, HloPrintOptions, hlo_module_from_text

HERE = Path(__file__).resolve().parent
A = jax.Array


def normalize_rows(x: A, mask: A) -> Any:
    """Divides each row by its largest value where the mask allows it."""
    largest = jnp.max(jnp.abs(x), axis=1, keepdims=True)
    return jnp.where(mask, x / largest, jnp.float32(-jnp.inf)), jnp.argmax(x, axis=1)


def loop_and_branch(x: A, choice: A) -> Any:
    """Carries a tuple through a loop whose body branches."""

    def body(i: A, state: tuple[A, A]) -> tuple[A, A]:
        y, count = state
        return lax.cond(choice > i, lambda y: y @ y.T @ y, jnp.sin, y), count + jnp.any(y > 0)

    return lax.fori_loop(0, 3, body, (x, jnp.int32(0)))


def tables(x: A, rows: A) -> Any:
    """Uses constants of one, two and no dimensions, a gather, a sort of two operands and a scatter."""
    weights = jnp.array([[1.5, -2.0, 1e-9], [jnp.inf, 0.0, 3e30]], jnp.float32)
    order = jnp.array([4, 0, 2], jnp.int32)
    keys, values = lax.sort((x[0], x[1]), num_keys=1)
    return x[rows] @ weights.T[:, :1], x[order].at[:, 1].add(keys[1] * values[0]), jnp.array(True)


def spec(*dims: int, dtype: Any = jnp.float32) -> jax.ShapeDtypeStruct:
    """Describes one argument."""
    return jax.ShapeDtypeStruct(dims, dtype)


PROGRAMS: dict[str, tuple[Callable[..., Any], tuple[jax.ShapeDtypeStruct, ...]]] = {
    "normalize_rows": (normalize_rows, (spec(5, 7), spec(5, 7, dtype=jnp.bool_))),
    "loop_and_branch": (loop_and_branch, (spec(4, 6), spec(dtype=jnp.int32))),
    "tables": (tables, (spec(6, 3), spec(2, dtype=jnp.int32))),
}


def options(base: HloPrintOptions | None = None, **changes: Any) -> HloPrintOptions:
    """Returns print options with some changed."""
    result = base or HloPrintOptions()
    for name, value in changes.items():
        setattr(result, name, value)
    return result


def styles() -> dict[str, HloPrintOptions]:
    """Returns the styles by the name that goes into the file name."""
    return {
        "default": options(),
        "short": HloPrintOptions.short_parsable(),
        "canonical": HloPrintOptions.canonical(),
        "plain_names": options(print_percent=False, print_large_constants=True),
        "operand_shapes": options(print_operand_shape=True, print_metadata=False, print_large_constants=True),
        "indented": options(indent_amount=3, print_program_shape=False, print_large_constants=True),
        "no_layouts": options(include_layout_in_shapes=False, print_metadata=False),
        "bare": options(print_metadata=False, print_backend_config=False, print_large_constants=True),
    }


def chosen() -> dict[str, tuple[str, str]]:
    """Returns which module (name and stage) is printed in which style: each style at least once."""
    return {
        "normalize_rows_before": ("short", "plain_names"),
        "normalize_rows_after": ("default", "operand_shapes"),
        "loop_and_branch_before": ("default", "canonical"),
        "loop_and_branch_after": ("bare", "indented"),
        "tables_before": ("operand_shapes", "no_layouts"),
        "tables_after": ("plain_names", "short"),
        "eighths_b11_tpu": ("operand_shapes", "short"),
        "switch_in_scan_tpu": ("bare", "plain_names"),
    }


def module_of(name: str) -> HloModule:
    """Returns a module before or after optimization for the CPU, or a stored TPU dump."""
    program, _, stage = name.rpartition("_")
    if stage == "tpu":
        return hlo_module_from_text((HERE / "tpu" / program / "tpu.hlo").read_text())
    function, arguments = PROGRAMS[program]
    lowered: Any = jax.jit(function).lower(*arguments)
    if stage == "after":
        after: HloModule = lowered.compile().runtime_executable().hlo_modules()[0]
        return after
    before: HloModule = lowered.compiler_ir("hlo").as_hlo_module()
    return before


def main() -> None:
    """Writes every chosen module in its styles."""
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_hlo_source_file_canonicalization_regex", ".*/")  # file names without their folders
    (HERE / "hlo").mkdir(exist_ok=True)
    for name, wanted in chosen().items():
        module = module_of(name)
        for style in wanted:
            (HERE / "hlo" / f"{name}_{style}.hlo").write_text(module.to_string(styles()[style]))


if __name__ == "__main__":
    main()
