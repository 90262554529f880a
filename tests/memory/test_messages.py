"""Messages that memory ran out: every form that compilers and runtimes have printed, and texts that are cut off."""

from __future__ import annotations

import pytest

from dialect_utils.memory.messages import OutOfMemory, memory_messages, message_in
from relayout.reporting.out_of_memory import first_sentence, messages_page

_KIB, _MIB, _GIB = 1 << 10, 1 << 20, 1 << 30
# libtpu 0.0.52 printed these for programs of this project.
_ONE_LINE = (
    "jax.errors.JaxRuntimeError: RESOURCE_EXHAUSTED: E1000: CompileTimeHbmOom: Ran out of memory on HBM, the total "
    "memory required for HLO temporaries (130.00G) exceeds available HBM (15.75G). HLO module: jit_attn.\n"
    "See the documentation."
)
_WINDOW = (
    "RESOURCE_EXHAUSTED: Allocation (size=268435456) would exceed memory (size=134217728) :: #allocation3 [shape = "
    "'u8[268435456]{0}', space=vmem, size = 0x10000000, scoped, tag = 'input window allocation for operator input 0. "
    "The window shape is f32[8192,8192], while the full shape is f32[8192,8192].'] :: double.1"
)
_SCALARS = (
    "RESOURCE_EXHAUSTED: Allocation (size=4000256) would exceed memory (size=1048576) :: #allocation3 [shape = "
    "'u8[4000256]{0}', space=smem, size = 0x3d0a00, scoped, tag = 'prefetched SMEM operand 0'] :: add.1"
)
_STACK = (
    "Ran out of memory in memory space vmem while allocating on stack for %window.1 = u32[24,8,128]{2,1,0:T(8,128)S(1)}"
    " reduce-window(u32[24,8,128]{2,1,0:T(8,128)S(1)} %x, u32[]{:T(128)} %zero), window={size=1x1x128}, "
    "to_apply=%add.clone. Scoped allocation with size 20.50M and limit 16.00M exceeded scoped vmem limit by 4.50M. "
)
_TABLE = """\
RuntimeError: Compilation failure: Ran out of memory in memory space hbm. Used 24.12G of 16.00G hbm. Exceeded hbm \
capacity by 8.12G.

Total hbm usage >= 24.62G:
    reserved        512.00M
    program          24.12G
    arguments       unknown size

Output size unknown.

Program hbm requirement 24.12G:
    scoped             1.0K
    HLO temp         24.12G (4.4% utilization: Unpadded (1.06G) Padded (24.12G), 0.0% fragmentation (1.14M))

  Largest program allocations in hbm:

  1. Size: 16.00G
     Operator: op_type="Mul" op_name="model/scale/mul" source_file="model.py" source_line=41
     Shape: f32[512,512,128,4]{3,2,1,0:T(8,128)}
     Unpadded size: 512.00M
     Extra memory due to padding: 15.50G (32.0x expansion)
     XLA label: %multiply.7 = f32[512,512,128,4]{3,2,1,0:T(8,128)} multiply(f32[512,512,128,4]{3,2,1,0:T(8,128)} %a)
     Allocation type: HLO temp
     ==========================

  2. Size: 4.00G
     Shape: f32[128,512,128,2]{3,2,1,0}
     Unpadded size: 64.00M
     Extra memory due to padding: 3.94G (64.0x expansion)
     XLA label: %sum.3 = f32[128,512,128,2]{3,2,1,0} cross-replica-sum(f32[128,512,128,2]{3,2,1,0} %b)
     Allocation type: HLO temp
     ==========================

  3. Size: 4.00G
     XLA label: %fusion.9 = u32[8388608,1]{1,0:T(8,128)} fusion(u32[]{:T(256)} %c, u32[]{:T(256)}...
     Allocation type: HLO temp
     ==========================
"""
_RUNTIME = """\
RuntimeError: Resource exhausted: From /job:tpu_worker/replica:0/task:0:
Attempting to reserve 3.50G at the bottom of memory. That was not possible. There are 1.25G free, 0B reserved, and \
1.25G reservable.;
HBM capacity 8.00G:
       Top-of-Memory reserved:  512.00M (     536,870,912 bytes)
          Currently allocated:    6.25G (   6,710,886,400 bytes)
"""
_GPU = """\
XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 8589934592 bytes.
BufferAssignment OOM Debugging.
BufferAssignment stats:
             parameter allocation:    1.00GiB
              constant allocation:         0B
     preallocated temp allocation:    8.00GiB
Peak buffers:
\tBuffer 1:
\t\tSize: 4.00GiB
\t\tOperator: op_name="jit(f)/dot_general" source_file="train.py" source_line=12
\t\tXLA Label: fusion
\t\tShape: f32[32768,32768]
\t\t==========================

\tBuffer 2:
\t\tSize: 1.00GiB
\t\tEntry Parameter Subshape: f32[16384,16384]
\t\t==========================
"""
_SPILLS = """\
RESOURCE_EXHAUSTED: XLA:TPU compile permanent error. Ran out of memory in memory space vmem. Used 30.00M of 16.00M \
vmem. Exceeded vmem capacity by 14.00M.

Program vmem requirement 30.00M:
    scoped           30.00M

  Largest program allocations in vmem:

  1. Size: 29.50M
     XLA label: register allocator spill slots call depth 2
     Allocation type: scoped
     ==========================
"""
_EARLY = (
    "RuntimeError: Compilation failure: Aborting compilation early because it's unlikely to have enough memory. "
    "Requires 2.50E, has 14.5G available. If more detailed logging is desired, set --xla_tpu_flag=-1"
)
_ORDINAL = "RESOURCE_EXHAUSTED: Failed to allocate request for 96.00MiB (100663296B) on device ordinal 3"
_DRIVER = "E cuda_driver.cc:828] failed to allocate 2.00G (2147483648 bytes) from device: CUDA_ERROR_OUT_OF_MEMORY"
_PIECES = "Could not allocate 2097152 bytes in memory 0x0x0_HBM0; 1048576 bytes allocatable, 8388608 bytes available"
_SHARED = "RESOURCE_EXHAUSTED: Shared memory size limit exceeded: requested 262144, available: 101376"
_SMALL = "Ran out of memory in memory space smem. Used 1.00M of 1.00M smem. Exceeded smem capacity by 2.5K."
_ALL = (_ONE_LINE, _WINDOW, _SCALARS, _STACK, _TABLE, _RUNTIME, _GPU, _SPILLS)


def _only(text: str) -> OutOfMemory:
    (message,) = memory_messages(text)
    return message


@pytest.mark.parametrize(
    ("text", "space", "needed", "available"),
    [
        (_ONE_LINE, "HBM", 130 * _GIB, 15.75 * _GIB),
        (_WINDOW, "VMEM", 256 * _MIB, 128 * _MIB),
        (_SCALARS, "SMEM", 4000256, _MIB),
        (_STACK, "VMEM", 20.5 * _MIB, 16 * _MIB),
        (_TABLE, "HBM", 24.12 * _GIB, 16 * _GIB),
        (_RUNTIME, "", 3.5 * _GIB, 1.25 * _GIB),
        (_GPU, "", 8 * _GIB, None),
        (_SPILLS, "VMEM", 30 * _MIB, 16 * _MIB),
        (_EARLY, "", 2.5 * (1 << 60), 14.5 * _GIB),
        (_ORDINAL, "", 96 * _MIB, None),
        (_DRIVER, "", 2 * _GIB, None),
        (_PIECES, "HBM0", 2 * _MIB, 8 * _MIB),
        (_SHARED, "shared memory", 1 << 18, 101376),
        (_SMALL, "SMEM", _MIB, _MIB),
    ],
)
def test_figures_of_every_form(text: str, space: str, needed: float, available: float | None) -> None:
    message = _only(text)
    assert message.space == space
    assert message.needed == round(needed)
    assert message.available == (None if available is None else round(available))


def test_one_line_names_the_module() -> None:
    message = _only(_ONE_LINE)
    assert (message.module, message.what) == ("jit_attn", "HLO temporaries")
    sentence = (
        "jit_attn does not fit into HBM: its HLO temporaries take 130 GiB, and 15.8 GiB are there, 114 GiB too much"
    )
    assert first_sentence(message) == sentence


def test_table_of_allocations() -> None:
    message = _only(_TABLE)
    first, second, third = message.allocations
    assert first.padding == 15.5 * _GIB
    assert (first.op_name, first.source_file, first.source_line) == ("model/scale/mul", "model.py", 41)
    assert list(map(str, first.padded)) == ["dimension 3: 4 -> 128 (tile 128, 32x)"]
    # The tile is not in the text; only the tile of 128 lanes makes 4 GiB of this array.
    assert list(map(str, second.padded)) == ["dimension 3: 2 -> 128 (tile 128, 64x)"]
    # Neither the shape nor the size without padding has a line of its own.
    assert third.shape == "u32[8388608,1]{1,0:T(8,128)}"
    assert third.padding == 4 * _GIB - 32 * _MIB
    assert message.unpadded_temporaries == round(1.06 * _GIB)
    assert ("Program hbm requirement", "scoped", _KIB) in message.totals
    assert ("Total hbm usage", "reserved", 512 * _MIB) in message.totals


def test_page_opens_with_what_does_not_fit_and_the_largest_padding() -> None:
    lines = messages_page([_only(_TABLE)], 200).splitlines()
    assert lines[0] == "the program does not fit into HBM: it needs 24.1 GiB, and 16 GiB are there, 8.12 GiB too much"
    assert lines[1] == (
        "15.5 GiB of 16 GiB are padding of one array: multiply.7 f32[512,512,128,4]{3,2,1,0:T(8,128)}, "
        "from model.py:41 model/scale/mul"
    )
    assert any("xla_dump_to" in line for line in lines)
    assert any("xla_jf_dump_to" in line for line in lines)


def test_equal_rows_are_one_row() -> None:
    entry = _TABLE[_TABLE.index("  2. Size") : _TABLE.index("  3. Size")]
    page = messages_page([_only(_TABLE + entry.replace("2. Size", "4. Size"))], 200)
    assert "8 GiB" in page
    assert " 2x " in page


def test_gpu_buffers() -> None:
    message = _only(_GPU)
    first, second = message.allocations
    assert (first.size, first.shape, first.source_line) == (4 * _GIB, "f32[32768,32768]", 12)
    assert (second.kind, second.shape) == ("argument", "f32[16384,16384]")
    page = messages_page([message])
    assert "xla_jf_dump_to" not in page


@pytest.mark.parametrize(
    ("text", "advice"), [(_WINDOW, "block_shape"), (_SCALARS, "num_scalar_prefetch"), (_SPILLS, "spilled")]
)
def test_small_memories_have_advice(text: str, advice: str) -> None:
    assert advice in messages_page([_only(text)], 300)


@pytest.mark.parametrize(
    "prefix",
    [
        "2020-05-04 09:05:40.719332: E    1578 tensorflow/compiler/xla/xla_client/xla_util.cc:76] ",
        "E1111 07:35:00.272763 140408571025152 error_handling.py:81] ",
        "ERROR 04-29 13:23:34 [core.py:396] ",
        "(EngineCore pid=12) ERROR 04-29 13:23:34 [core.py:396] ",
    ],
)
def test_logs_with_a_prefix_on_each_line(prefix: str) -> None:
    log = "".join(f"{prefix}{line}\n" for line in _TABLE.splitlines())
    assert _only(log) == _only(_TABLE)


def test_repr_of_an_exception() -> None:
    assert _only(repr(RuntimeError(_TABLE))) == _only(_TABLE)


def test_a_message_that_a_log_repeats_counts_once() -> None:
    short = _TABLE[: _TABLE.index("\n\nTotal")]
    assert memory_messages(f"{short}\nTraceback\n{_TABLE}\n{_TABLE}") == memory_messages(_TABLE)
    assert len(memory_messages(f"{_ONE_LINE}\n{_WINDOW}")) == 2


@pytest.mark.parametrize("text", _ALL)
def test_texts_that_are_cut_off(text: str) -> None:
    for end in range(0, len(text), 7):
        for message in memory_messages(text[:end]):
            assert messages_page([message])


@pytest.mark.parametrize("text", ["", "out of memory", "HloModule m", "RESOURCE_EXHAUSTED: quota", "Ran out of memory"])
def test_other_texts_are_no_messages(text: str) -> None:
    assert message_in(text.encode()) is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (_EARLY, "needs 2.5 EiB, and 14.5 GiB are there"),
        (_ORDINAL, "the runtime asked for 96 MiB more"),
        (_PIECES, "8 MiB are free, 1 MiB of them in one piece: the memory is fragmented"),
        (_SHARED, "does not fit into shared memory: it needs 256 KiB"),
        (_SMALL, "2.5 KiB too much"),
    ],
)
def test_the_first_sentence_has_the_figures_of_the_message(text: str, said: str) -> None:
    assert said in first_sentence(_only(text))
