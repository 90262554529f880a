"""Mistakes in the passes and what declares them."""

from tests.mutants.model import Mutant

MUTANTS = (
    Mutant(
        "dialect_utils/ops/devices.py",
        "if sorted(devices) != list(range(len(devices))):",
        "if len(set(devices)) != len(devices):",
        ("tests/passes/layouts/test_verification.py",),
    ),
    Mutant(
        "dialect_utils/ops/indexing.py",
        "if len(self.mapped) != length:",
        "if False:",
        ("tests/passes/layouts/test_verification.py",),
    ),
    Mutant(
        "dialect_utils/ops/indexing.py",
        "if rest != numbers.batch:",
        "if False:",
        ("tests/passes/layouts/test_verification.py",),
    ),
    Mutant(
        "dialect_utils/ops/inference.py",
        "return first == second or (first.is_floating and second.is_floating)",
        "return True",
        ("tests/passes/layouts/test_verification.py",),
    ),
    Mutant(
        "dialect_utils/ops/checking.py",
        "if inferred.element_type != written.element_type:",
        "if False:",
        ("tests/passes/layouts/test_verification.py",),
    ),
    Mutant(
        "dialect_utils/hlo/verification/literals.py",
        "if len(parts) != len(shape.elements):",
        "if len(parts) > len(shape.elements):",
        ("tests/passes/layouts/test_verification.py",),
    ),
    Mutant(
        "passes/tiling/cancel_relayouts.py",
        "if len(value.users) > 1 or is_returned(value):",
        "if len(value.users) > 1:",
        ("tests/passes/tiling/test_cancel_relayouts.py",),
    ),
    Mutant(
        "passes/tiling/cancel_relayouts.py",
        "return bool(form.steps) or spaces[0] == spaces[1]",
        "return True",
        ("tests/passes/tiling/test_cancel_relayouts.py",),
    ),
    Mutant(
        "passes/tiling/cancel_relayouts.py",
        "key = (operation.operands[0], step, padding, array_shape(value))",
        "key = (operation.operands[0], step, array_shape(value))",
        ("tests/passes/tiling/test_cancel_relayouts.py",),
    ),
    Mutant(
        "passes/tiling/byte_readers.py",
        "if not is_tuple or source.in_default_memory == result.in_default_memory:",
        "if not is_tuple:",
        ("tests/passes/tiling/test_byte_readers.py",),
    ),
    Mutant(
        "passes/tiling/markers.py",
        "if carrier is not None and carrier.opcode not in _IMPLYING:",
        "if carrier is not None:",
        ("tests/passes/tiling/test_expand_tiling.py",),
    ),
    Mutant(
        "passes/layouts/propagate_layouts.py",
        "value.replace_uses(copied, keep=[user for user in value.users if user not in users])",
        "value.replace_uses(copied)",
        ("tests/passes/layouts/test_propagate_layouts.py",),
    ),
    Mutant(
        "passes/dumps/collectives.py",
        "return shifts == [shift, shift] and words == set(combiner.parameters)",
        "return words == set(combiner.parameters)",
        ("tests/passes/dumps/test_collectives.py",),
    ),
    Mutant(
        "passes/dumps/portable_ops.py",
        '{"add": "sum", "subtract": "sum", "multiply": "product"}',
        '{"add": "sum", "multiply": "product"}',
        ("tests/passes/dumps/test_portable_pieces.py",),
    ),
    Mutant(
        "passes/dumps/inline_fusions.py",
        "if not value.users and not value.is_root:",
        "if not value.users:",
        ("tests/passes/dumps/test_convert_async_to_sync.py",),
    ),
    Mutant(
        "passes/dumps/convert_async_to_sync.py",
        'and item.opcode not in ("infeed", "outfeed")',
        "",
        ("tests/passes/dumps/test_convert_async_to_sync.py",),
    ),
    Mutant(
        "passes/dumps/convert_async_to_sync.py",
        "parts = (value, *operands) if index == 0 else (*operands, value)",
        "parts = (*operands, value)",
        ("tests/passes/dumps/test_convert_async_to_sync.py",),
    ),
    Mutant(
        "passes/framework/base.py",
        'if hasattr(returned, "dialect") and returned is not clone:',
        "if False:",
        ("tests/passes/framework/test_pipeline.py",),
    ),
    Mutant(
        "passes/framework/pipeline.py",
        "raise PassError(step, module, [found], error).with_traceback(trace) from None",
        "raise PassError(step, module, [found], error) from error",
        ("tests/passes/framework/test_pipeline.py",),
    ),
    Mutant(
        "passes/framework/options.py",
        "if kind in _PLAIN and value is not None and type(value) not in _PLAIN[kind]:",
        "if False:",
        ("tests/passes/framework/test_pipeline.py",),
    ),
    Mutant(
        "passes/framework/options.py",
        "if key in values:",
        "if False:",
        ("tests/passes/framework/test_spec.py",),
    ),
    Mutant(
        "passes/bitcasts/padding_reads.py",
        'return np.flip(marked, user.ints("dimensions") or ())',
        "return marked",
        ("tests/passes/bitcasts/test_padding_reads.py",),
    ),
    Mutant(
        "passes/dumps/replace_transfers.py",
        "sum(sizes[: before + index])",
        "sum(sizes[:index])",
        ("tests/passes/dumps/test_replace_transfers.py",),
    ),
    Mutant(
        "passes/dumps/runnable.py",
        "if self.watched and (number",
        "if False and (number",
        ("tests/relayout/test_run_in_python.py",),
    ),
    Mutant(
        "passes/dumps/observed.py",
        "if any(each not in moving for each in inputs):",
        "if False:",
        ("tests/passes/dumps/test_observed.py",),
    ),
    Mutant(
        "passes/dumps/observed.py",
        "if value in uniform and not wrong.isdisjoint(self.inputs_of(value)):",
        "if False:",
        ("tests/passes/dumps/test_observed.py",),
    ),
    Mutant(
        "passes/dumps/observed.py",
        "min(_ITERATIONS, trip_count(item) or 1)",
        "_ITERATIONS",
        ("tests/passes/dumps/test_observed.py",),
    ),
)
