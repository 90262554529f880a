# ruff: noqa: E501
"""The verifier of HLO: XLA's own tests, and one module for each constraint that violates it."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any

import pytest

from dialect_utils.hlo import parse_module
from dialect_utils.hlo.verify import find_problems
from dialect_utils.text import Diagnostic, DiagnosticError
from tests.paths import SHARED_DATA

XLA_TESTS = [SHARED_DATA / "corpus" / "xla_tests" / name for name in ("verifier.json", "verifier_2.json")]
# A test of XLA also sets options of the verifier, and counts of devices, which are in the header here.
OPTIONS: dict[str, dict[str, Any]] = {
    "EnableUnboundedDynamism": {"is_unbounded": True},
    "UnboundedDynamismSupportsAliasingCustomCall": {"is_unbounded": True},
    "ReshapeIsNotBitcast": {"also": ["bitcast-reshapes"]},
    "ReshapeIsBitcast": {"also": ["bitcast-reshapes"]},
    "NegativeHostMemorySpaceShape": {"also": ["no-host-memory"]},
    "VerifyBroadcastDimensionsOrder": {"also": ["ordered-broadcasts"]},
    "VerifyBroadcastDimensionsOrderOK": {"also": ["ordered-broadcasts"]},
    "VerifyInstructionNameChanged": {"also": ["kept-names"]},
    "VerifyInstructionNameUnchanged": {"also": ["kept-names"]},
}
COUNTS = {
    "CollectivePermuteCrossPartitionTargetOOR": "num_partitions=3",
    "CollectivePermuteCrossReplicaTargetOOR": "replica_count=3",
    "InvalidShardingDevices": "num_partitions=2",
    "MismatchPartitionCount": "num_partitions=2",
}
# Modules that XLA rejects and that are accepted here, with the reason.
NOT_REJECTED = {
    "CheckConditionalBranchIndexOperandShape": "the test changes the module after it is read",
    "MismatchedMinorToMajorSizeAndDimensionSize": "the test changes the module after it is read",
    "CheckCallOperandOutputAliasing": "the test changes the module after it is read",
    "AsyncOpTupleWrongType": "the test changes the module after it is read",
    "VerifyBuffersAsyncCallStreamAnnotated": "the status that the test expects is OK",
    "MultipleOpsProducesError": "bare instruction lines are a module here",
    "EmptyLeafInOriginalValue": "XLA's parser tests accept the text that its verifier tests reject",
}

_ADD = "add {\n  x = f32[] parameter(0)\n  y = f32[] parameter(1)\n  ROOT a = f32[] add(x, y)\n}\n"
_SCANNED = "g {\n  x = f32[] parameter(0)\n  y = f32[] parameter(1)\n  a = f32[] add(x, y)\n  ROOT t = (f32[], f32[]) tuple(a, a)\n}\n"
_LOOP = "c {\n  x = f32[4] parameter(0)\n  ROOT r = pred[] constant(true)\n}\nb {\n  ROOT x = f32[4] parameter(0), sharding={replicated}\n}\n"
_HALF = "c {\n  x = f32[4] parameter(0)\n  y = f32[4] parameter(1)\n  ROOT r = f32[4] add(x, y)\n}\n"
_USED_ROOT = "c {\n  x = f32[4] parameter(0)\n  ROOT r = f32[4] negate(x)\n  y = f32[4] negate(r)\n}\n"
_DEAD = "c {\n  x = f32[4] parameter(0)\n  y = f32[4] abs(x)\n  ROOT r = f32[4] negate(x)\n}\n"
_ASYNC = 'w {\n  p = f32[2,3] parameter(0)\n  ROOT r = f32[3,2] custom-call(p), custom_call_target="f"\n}\n'
_THREAD = 'c {\n  x = f32[4] parameter(0)\n  ROOT r = f32[4] negate(x)\n}, execution_thread="other"\n'
_PAIR = "p = (f32[], f32[]) parameter(0)\n  ROOT o = (f32[], f32[]) copy(p)"
_CONVOLVED = "a = f32[1,2,1] parameter(0)\n  f = f32[1,1,1] parameter(1)\n  ROOT c = f32[1,2,1] convolution(a, f), "
_STATE = "((f32[2,3]), f32[3,2], s32[])"
_SENT = "p = f32[4] parameter(0)\n  t = token[] after-all()\n  s = (f32[4], u32[], token[]) send(p, t), channel_id=1"
_RECEIVED = 't = token[] after-all()\n  r = (f32[4], u32[], token[]) recv(t), channel_id=1, frontend_attributes={_xla_send_recv_source_target_pairs="{{0,1}}"}\n  ROOT d = (f32[4], token[]) recv-done(r), channel_id=1'
_PINNED = 'p = f32[4] parameter(0)\n  b = b(f32[4]) custom-call(p), custom_call_target="Pin", output_to_operand_aliasing={{}: (0, {})}\n  '

# The body of the entry, the computations before it, the attributes of the module, and a part of the message.
MISTAKES = [
    ("p = f32[2,2] parameter(0)\n  ROOT t = f32[2,2] negate(f32[2,5] p)", "", "", "declared operand shape f32[2,5]"),
    # Names.
    ("f32 = f32[] parameter(0)\n  ROOT n = f32[] negate(f32)", "", "", "f32 is a word of HLO"),
    ("ROOT = f32[] parameter(0)", "", "", "ROOT is a word of HLO"),
    # Collectives.
    ("i = f32[8] parameter(0)\n  a = f32[8] all-reduce(i), to_apply=add, constrain_layout=true\n  b = f32[8] all-reduce(i), to_apply=add\n  ROOT t = (f32[8], f32[8]) tuple(a, b)", _ADD, "", "a mix of layout constrained"),
    ("i = f32[2,3] parameter(0)\n  s = (f32[2,3], f32[2,3]) all-reduce-start(i), to_apply=add\n  ROOT d = f32[2,3] all-reduce-done(s)", _ADD, "", "all-reduce-start gives f32[2,3]"),
    ("i = f32[8] parameter(0)\n  s = ((f32[8]), f32[7]) all-reduce-start(i), to_apply=add\n  ROOT d = f32[7] all-reduce-done(s)", _ADD, "", "all-reduce-start gives ((f32[8]), f32[8])"),
    ("i = f32[8] parameter(0)\n  s = ((f32[7]), f32[8]) all-reduce-start(i), to_apply=add\n  ROOT d = f32[8] all-reduce-done(s)", _ADD, "", "all-reduce-start gives ((f32[8]), f32[8])"),
    ("i = f32[8] parameter(0)\n  s = ((f32[8]), f32[8], u32[]) all-reduce-start(i), to_apply=add\n  ROOT d = f32[8] all-reduce-done(s)", _ADD, "", "all-reduce-start gives ((f32[8]), f32[8])"),
    ("i = f32[8] parameter(0)\n  s = ((f32[8]), f32[8]) all-reduce-start(i), to_apply=add\n  ROOT d = ((f32[8]), f32[8]) all-reduce-done(s)", _ADD, "", "all-reduce-done gives f32[8]"),
    ("i = f32[8] parameter(0)\n  ROOT s = f32[8] all-reduce(i), replica_groups={{0,1},{}}, to_apply=add", _ADD, "", "have an empty group"),
    ("i = f32[8] parameter(0)\n  ROOT s = f32[8] all-reduce(i), replica_groups={{0,1},{1,2}}, to_apply=add", _ADD, "", "do not name each device once"),
    ("i = f32[8] parameter(0)\n  ROOT s = f32[8] all-reduce(i), replica_groups={{0,1}}, to_apply=add", _ADD, ", replica_count=4", "should contain 4 replicas"),
    ("i = f32[8] parameter(0)\n  ROOT s = f32[8] all-reduce(i), use_global_device_ids=true, to_apply=add", _ADD, "", "needs a channel_id"),
    ("i = f32[8] parameter(0)\n  ROOT s = f32[8] all-reduce(i), replica_groups=mesh['a'=2,'b'=2] {'c'}, to_apply=add", _ADD, "", "c is not a valid axis name"),
    ("i = f32[8] parameter(0)\n  ROOT s = f32[16] all-gather(i), dimensions={0}, replica_groups=[2,2]<=[16]", "", "", "does not match the tile assignment dimensions [2, 2]"),
    ("p = f32[128,4] parameter(0)\n  ROOT s = (f32[128,4], f32[128,4], f32[128,4]) all-to-all(p, p, p), replica_groups={{0,1}}", "", "", "among 2 devices has 3 operands"),
    ("i = f32[8] parameter(0)\n  ROOT s = f32[4] reduce-scatter(i), replica_groups={{0},{1,2}}, dimensions={0}, to_apply=add", _ADD, "", "are not of one size"),
    ("i = f32[8] parameter(0)\n  ROOT s = f32[8] reduce-scatter(i), replica_groups={{0,1}}, dimensions={0}, to_apply=add", _ADD, "", "has a shard count of 1, but groups of 2"),
    ("p = f32[4] parameter(0)\n  ROOT c = f32[4] collective-permute(p), source_target_pairs={{0,1},{0,2}}", "", "", "the source 0 is in source_target_pairs more than once"),
    ("p = f32[4] parameter(0)\n  ROOT c = f32[4] collective-permute(p), source_target_pairs={{0,5},{1,2}}", "", ", replica_count=3", "the target 5 in source_target_pairs must be below 3"),
    ("t = f32[] parameter(0)\n  ROOT i = (u32[3], token[]) infeed(t)", "", "", "infeed waits for tokens"),
    ("p = f32[4] parameter(0)\n  ROOT o = token[] outfeed(p, p)", "", "", "outfeed waits for tokens, found f32[4]"),
    ("p = f32[2] parameter(0)\n  ROOT c = f32[2] all-reduce(p), channel_id=0, to_apply=add", _ADD, "", "must be greater than 0"),
    ("p = f32[2] parameter(0)\n  r = u32[1] parameter(1)\n  ROOT c = f32[2] collective-reduce(p, r), has_dynamic_root=true, to_apply=add", _ADD, "", "takes s32[1] as its last operand"),
    ("p = f32[2] parameter(0)\n  ROOT a = (f32[2], f32[2]) all-to-all(p, p), replica_groups={}", "", "", "among 1 devices has 2 operands"),
    ("p = f32[<=2] parameter(0)\n  ROOT a = f32[<=2] all-to-all(p), dimensions={0}, replica_groups={{0,1}}", "", "", "all-to-all splits dimension 0"),
    ("p = f32[2] parameter(0)\n  s = (f32[2], f32[2], u32[]) all-gather-start(p), dimensions={0}\n  ROOT d = f32[2] all-gather-done(s)", "", "", "gives its operands and results"),
    ("p = f32[4] parameter(0)\n  r = (f32[4], u32[], token[]) recv(p), channel_id=1\n  ROOT d = (f32[4], token[]) recv-done(r), channel_id=1", "", "", "recv waits for tokens, found f32[4]"),
    ("p = f32[4] parameter(0)\n  t = token[] after-all()\n  ROOT o = token[] outfeed(p, t), outfeed_shape=f32[5]", "", "", "has the outfeed_shape f32[5]"),
    # Sends, receives and asynchronous operations.
    (f"{_SENT}\n  ROOT d = token[] send-done(s), channel_id=2", "", "", "the same channel id, found 1 and 2"),
    (f"{_SENT}, is_host_transfer=true\n  ROOT d = token[] send-done(s), channel_id=1", "", "", "the same is_host_transfer"),
    ("p = f32[2,3] parameter(0)\n  q = u32[] parameter(1)\n  t = (f32[2,3], f32[2,3], u32[]) tuple(p, p, q)\n  ROOT d = f32[2,3] copy-done(t)", "", "", "needs to be copy-start, found tuple"),
    ("p = f32[2,3] parameter(0)\n  s = (f32[2,3], f32[2,3], u32[]) copy-start(p)\n  a = f32[2,3] copy-done(s)\n  b = f32[2,3] copy-done(s)\n  ROOT t = (f32[2,3], f32[2,3]) tuple(a, b)", "", "", "requires one consumer, found 2"),
    (f"p = f32[3,2] parameter(0)\n  s = {_STATE} async-start(p), calls=w\n  ROOT d = f32[3,2] async-done(s)", _ASYNC, "", "expects the shape of operand 0 to match"),
    (f"p = f32[2,3] parameter(0)\n  s = {_STATE} async-start(p), calls=w\n  ROOT d = f32[2,3] async-done(s)", _ASYNC, "", "expects its shape to match the async shape at index {1}"),
    ("p = f32[2,3] parameter(0)\n  s = ((f32[2,3]), f32[2,3], s32[]) async-start(p), calls=w\n  ROOT d = f32[2,3] async-done(s)", _ASYNC, "", "to be a tuple of the first outputs of f32[3,2]"),
    ("p = f32[8] parameter(0)\n  s = ((f32[8]), f32[5], s32[]) slice-start(p), slice={[0:4]}\n  ROOT d = f32[5] slice-done(s)", "", "", "f32[4]"),
    ("p = f32[8] parameter(0)\n  s = ((f32[8]), f32[8]) all-to-all-start(p), channel_id=1, replica_groups={{0,1},{2,3}}, dimensions={0}\n  ROOT d = f32[8] all-to-all-done(s)", "", ", num_partitions=8", "should contain 8 partitions, but contain 4"),
    (f"p = f32[2,3] parameter(0)\n  s = {_STATE} async-start(p), calls=w\n  d = f32[3,2] async-done(s)\n  ROOT e = f32[3,2] async-done(d)", _ASYNC, "", "cannot have async-done as operand"),
    (f"p = f32[2,3] parameter(0)\n  s = {_STATE} async-start(p), calls=w\n  u = {_STATE} async-update(s, p)\n  ROOT d = f32[3,2] async-done(u)", _ASYNC, "", "has 1 new operands"),
    (f"p = f32[2,3] parameter(0)\n  s = {_STATE} async-start(p), calls=w, output_to_operand_aliasing={{{{7}}: (0, {{}})}}\n  ROOT d = f32[3,2] async-done(s)", _ASYNC, "", "invalid output shape index [7]"),
    # Buffers.
    (f"{_PINNED}c = b(f32[4]) custom-call(b), custom_call_target=\"f\"\n  ROOT z = f32[4] negate(p)", "", "", "buffer is used in operands but not in results"),
    ("p = f32[4] parameter(0)\n  b = b(f32[4]) custom-call(p), custom_call_target=\"Pin\"\n  ROOT z = f32[4] negate(p)", "", "", "Pin must have one output-to-operand aliasing"),
    # Calls, loops and fusions.
    ("p = f32[4] parameter(0)\n  ROOT c = f32[4] call(p), to_apply=c", _THREAD, "", "does not match: other"),
    ("p = f32[4] parameter(0), sharding={replicated}\n  ROOT w = f32[4] while(p), condition=c, body=b, sharding={maximal device=0}", _LOOP, "", "inconsistent while sharding"),
    ("p = f32[4] parameter(0)\n  ROOT f = f32[4] fusion(p), kind=kLoop, calls=c", _HALF, "", "passes 1 operands to %c, which has 2"),
    ("p = f32[4] parameter(0)\n  ROOT f = f32[4] fusion(p), kind=kLoop, calls=c", _USED_ROOT, "", "may not have users"),
    ("p = f32[4] parameter(0)\n  ROOT f = f32[4] fusion(p), kind=kLoop, calls=c", _DEAD, "", "must have users"),
    ("p = f32[4] parameter(0)\n  ROOT r = f32[4] call(p), is_composite=true, to_apply=c", _DEAD, "", "must have frontend attributes with composite.name"),
    ("p = f32[4] parameter(0)\n  ROOT c = f32[4] custom-call(p), custom_call_target=\"f\", operand_layout_constraints={f32[4]{0}, f32[4]{0}}", "", "", "expected 1 operand_layout_constraints, found 2"),
    ("p = f32[4] parameter(0)\n  ROOT c = f32[4] custom-call(p), custom_call_target=\"f\", output_to_operand_aliasing={{}: (1, {})}", "", "", "invalid operand number 1"),
    ("ROOT c = f32[] custom-call(), custom_call_target=\"GetRngSeed\"", "", "", "must return u64"),
    # Data movement, windows and products.
    ("p = f32[20] parameter(0)\n  ROOT s = f32[12] slice(p), slice={[0:1/*x*/2]}", "", "", "slice[] does not fit rank 1"),
    ("p = f32[4,<=8] parameter(0)\n  i = s32[] parameter(1)\n  ROOT d = f32[4,<=8] dynamic-reshape(p, i)", "", "", "one size for each dimension of the result"),
    ("a = f32[1,4] parameter(0)\n  b = f32[4,1] parameter(1)\n  ROOT c = f32[1,1] convolution(a, b), dim_labels=bf_io->bf, sparsity_config={lhs={sparsity=1x1 dimension=0 stride=1 idx=2}}", "", "", "names operand 2, which is none"),
    ("a = f32[1,4] parameter(0)\n  b = f32[1,1] parameter(1)\n  i = s32[1,1] parameter(2)\n  ROOT c = f32[1,1] convolution(a, b, i), dim_labels=bf_io->bf, sparsity_config={rhs={sparsity=1x4x2 dimension=0 stride=1 idx=2}}", "", "", "sparsity_config expects fields"),
    ("ROOT c = () constant(1)", "", "", "is not in parentheses"),
    ("p = f32[4] parameter(0)\n  ROOT g = f32[8] all-gather(p), replica_groups={{0,1}}", "", "", "needs the attribute dimensions"),
    (f"{_CONVOLVED}window={{size=1x1}}, dim_labels=b0f_0io->b0f", "", "", "has 2 entries in size"),
    (f"{_CONVOLVED}window={{size=1 size=1}}, dim_labels=b0f_0io->b0f", "", "", "has the field size twice"),
    (f"{_CONVOLVED}window={{size=1 foo=1}}, dim_labels=b0f_0io->b0f", "", "", "the unknown field foo"),
    ("a = f32[4,2] parameter(0)\n  ROOT d = f32[4,4] dot(a, a), lhs_contracting_dims={1}, rhs_contracting_dims={1}, operand_precision={packed_nibble,default}", "", "", "packed nibbles on one side"),
    ("a = f32[2,10] parameter(0)\n  s = f32[2,6] parameter(1)\n  ROOT d = f32[2,2] scaled-dot(a, a, s, s), lhs_contracting_dims={1}, rhs_contracting_dims={1}", "", "", "should be a multiple of dimension 1"),
    ("a = f32[11,5] parameter(0)\n  b = f32[3,5,7] parameter(1)\n  c = s32[2] parameter(2)\n  ROOT d = f32[11,7] ragged-dot(a, b, c), lhs_contracting_dims={1}, rhs_contracting_dims={1}, lhs_ragged_dims={0}, rhs_group_dims={0}", "", "", "has 2 groups, but 3 on the right"),
    ("a = f8e4m3fn[2,4,4] parameter(0)\n  s = f32[2,4,2] parameter(1)\n  ROOT d = f32[2,2] scaled-dot(a, a, s, s), lhs_contracting_dims={1,2}, rhs_contracting_dims={1,2}", "", "", "sums over one dimension"),
    ("a = f8e4m3fn[2,4] parameter(0)\n  s = f32[2,2] parameter(1)\n  t = f32[] parameter(2)\n  ROOT d = f32[2,2] scaled-dot(a, a, s, t), lhs_contracting_dims={1}, rhs_contracting_dims={1}", "", "", "of another rank"),
    ("a = f32[2,11,5] parameter(0)\n  b = f32[3,2,5,7] parameter(1)\n  c = s32[4,3] parameter(2)\n  ROOT d = f32[2,11,7] ragged-dot(a, b, c), lhs_batch_dims={0}, rhs_batch_dims={1}, lhs_contracting_dims={2}, rhs_contracting_dims={2}, lhs_ragged_dims={1}, rhs_group_dims={0}", "", "", "each index of the outer dimensions [2]"),
    ("a = f32[4,2] parameter(0)\n  ROOT d = f32[4,4] dot(a, a), lhs_contracting_dims={1}, rhs_contracting_dims={1}, algorithm=dot_f8", "", "", "the algorithm of dot is dot_f8"),
    ("a = s8[4294967296] parameter(0)\n  ROOT s = s32[] get-dimension-size(a), dimensions={0}", "", "", "is beyond s32"),
    ("a = f32[4] parameter(0)\n  z = f32[] constant(0)\n  ROOT r = f32[] reduce(a, z), dimensions={0}, to_apply=c", "c {\n  x = bf16[] parameter(0)\n  y = f32[] parameter(1)\n  ROOT z = f32[] add(x, y)\n}\n", "", "whose accumulator is bf16[], but its result f32[]"),
    ("i = f32[4] parameter(0)\n  z = f32[] parameter(1)\n  ROOT s = (f32[4], f32[]) scan(i, z), dimensions={0}, num_carries=3, to_apply=g", _SCANNED, "", "scan has 3 carries, but only 2 operands"),
    ("p = f32[4] parameter(0)\n  ROOT c = f32[4] exponential(p), result_accuracy={tolerance={rtol=-1, atol=0, ulps=2}}", "", "", "is negative"),
    # Literals.
    ("ROOT c = f32[1] constant({1/* one */2})", "", "", "has 2 elements, but needs 1"),
    ("ROOT c = f64[] constant(-1.8e308)", "", "", "is out of the range of f64"),
    ("ROOT c = f8e4m3fn[] constant(nan(0x1))", "", "", "has one NaN"),
    # Shardings.
    ("p = f32[4,2] parameter(0), sharding={devices=[2,2]0,0,1,2}\n  ROOT c = f32[4,2] copy(p)", "", "", "names a device twice"),
    ("p = f32[4,2] parameter(0), sharding={devices=[2,2]0,1,2,3}\n  ROOT c = f32[4,2] copy(p)", "", ", num_partitions=2", "names device 2, but there are 2"),
    ("p = (f32[4], f32[4]) parameter(0), sharding={{replicated}}\n  ROOT c = (f32[4], f32[4]) copy(p)", "", "", "1 entries for a tuple of 2 leaves"),
    ("p = f32[4,2] parameter(0), sharding={maximal device=-1}\n  ROOT c = f32[4,2] copy(p)", "", "", "which is negative"),
    ("p = (f32[4], f32[4]) parameter(0), sharding={{replicated}, {devices=[2,2]0,1,2,3}}\n  ROOT c = (f32[4], f32[4]) copy(p)", "", "", "but f32[4] has rank 1"),
    ("p = f32[4,4] parameter(0), sharding={devices=[2,2]<=[2,2]}\n  ROOT c = f32[4,4] copy(p)", "", "", "needs an order T(...)"),
    ("p = f32[4] parameter(0), sharding={replicated device=1}\n  ROOT c = f32[4] copy(p)", "", "", "has 1 devices instead of 0"),
    ('ROOT p = (f32[4], f32[4]) parameter(0), origin={({"a"})}', "", "", "mismatched tuple structure in the origin"),
    ("ROOT p = (f32[4], f32[4]) parameter(0), parameter_replication={true}", "", "", "the shape has 2 leaf buffers"),
    ("p = f32[4] parameter(0)\n  ROOT n = f32[4] negate(p), parameter_replication={true}", "", "", "is no parameter, but has parameter_replication"),
    ('ROOT p = f32[4] parameter(0), metadata={op_name ="a"}', "", "", "metadata expects fields"),
    ("ROOT c = f32[] constant({...})", "", "", "nests deeper than f32[]"),
    # Buffers and schedules.
    (f"{_PINNED}o = b(f32[4]) opt-barrier(b)\n  ROOT z = f32[4] custom-call(o), custom_call_target=\"Unpin\", output_to_operand_aliasing={{{{}}: (0, {{}})}}", "", "", "buffers aren't allowed in this context"),
    (_RECEIVED, "", ", is_scheduled=true", "expected send to match recv"),
    (_RECEIVED.replace("{0,1}", "{0,1},{1,0}"), "", ", is_scheduled=true", "non-cyclical source-target pairs"),
    (f"{_RECEIVED.replace('ROOT ', '')}\n  p = f32[4] parameter(0)\n  ROOT a = f32[4] all-reduce(p), to_apply=add", _ADD, ", is_scheduled=true", "will cause a deadlock"),
    # Asynchronous operations.
    (f"p = f32[2,3] parameter(0)\n  ROOT s = {_STATE} async-start(p), calls=w", _ASYNC, "", "has no matching async done"),
    (f"p = f32[2,3] parameter(0)\n  s = {_STATE} async-start(p), calls=w\n  ROOT d = f32[3,2] async-done(s)", _ASYNC.replace("ROOT r", "n = f32[2,3] negate(p)\n  ROOT r").replace("call(p)", "call(n)"), "", "to contain only the root and parameters"),
    (f"p = {_STATE} parameter(0)\n  t = {_STATE} copy(p)\n  x = f32[2,3] constant({{{{1,2,3}},{{4,5,6}}}})\n  ROOT d = f32[3,2] async-done(x)", "", "", "does not trace back to an async start"),
    (f"p = f32[2,3] parameter(0)\n  s = {_STATE} async-start(p), calls=w\n  n = f32[2,3] custom-call(s), custom_call_target=\"f\"\n  ROOT d = f32[3,2] async-done(s)", _ASYNC, "", "can only be used as the first operand"),
    (f"p = {_STATE} parameter(0)\n  ROOT d = f32[3,2] async-done(p), calls=w", _ASYNC, "", "does not trace back to an async start"),
    (f"p = f32[2,3] parameter(0)\n  s = {_STATE} async-start(p), calls=w\n  u = {_STATE} async-update(s), output_to_operand_aliasing={{{{1}}: (0, {{1}})}}\n  ROOT d = f32[3,2] async-done(u)", _ASYNC, "", "joins its context"),
    ("p = f32[4] parameter(0)\n  ROOT s = f32[4] all-reduce-start(p), to_apply=add", _ADD, "", "requires one consumer, found 0"),
    ("p = f32[4] parameter(0)\n  ROOT s = f32[4] all-reduce-done(p)", "", "", "needs to be all-reduce-start, found parameter"),
    ("p = f32[4] parameter(0)\n  s = (f32[4], f32[8]) all-gather-start(p), dimensions={0}\n  ROOT n = f32[4] negate(p)", "", "", "requires one consumer, found 0"),
    ("p = f32[4] parameter(0)\n  t = token[] after-all()\n  ROOT s = (f32[4], u32[], token[]) send(p, t), channel_id=1", "", "", "requires one consumer, found 0"),
    ("p = (f32[4], u32[], token[]) parameter(0)\n  ROOT d = token[] send-done(p), channel_id=1", "", "", "needs to be send or an element of a tuple"),
    ("i = f32[8] parameter(0)\n  a = f32[8] all-reduce(i), to_apply=add, constrain_layout=true\n  s = f32[8] all-reduce-start(i), to_apply=add\n  d = f32[8] all-reduce-done(s)\n  ROOT t = (f32[8], f32[8]) tuple(a, d)", _ADD, "", "a mix of layout constrained"),
    ("p = f32[4] parameter(0)\n  a = f32[4] fusion(p), kind=kLoop, calls=c\n  ROOT b = f32[4] fusion(a), kind=kLoop, calls=c", "c {\n  x = f32[4] parameter(0)\n  ROOT r = f32[4] negate(x)\n}\n", "", "is that of %a, too"),
    # Meshes.
    *((f"p = f32[4,4] parameter(0), sharding={text}\n  ROOT c = f32[4,4] copy(p)", "", "", said) for text, said in (
        ("{mesh['x'=2], [{'x'}]}", "but f32[4,4] has rank 2"),
        ("{mesh['x'=2], [{'x'},{'x'}]}", "uses an axis twice"),
        ("{mesh['x'=2], [{'y'},{}]}", "y is not a valid axis name"),
        ("{mesh['x'=4], [{'x':(1)4},{}]}", "is no part of an axis of size 4"),
        ("{mesh['x'=8], [{'x':(1)2,'x':(2)2},{}]}", "can be merged"),
        ("{mesh['x'=2,'y'=2], device_ids=(0,1,2,3), [{'x'},{}]}", "are no order of the 4 devices"),
        ("{mesh['x'=2], [{?,'x'},{}]}", "is not a valid sharding"),
        ("{{replicated}}", "1 entries for f32[4,4]"),
    )),
    *((f"p = f32[8] parameter(0)\n  ROOT r = f32[8] all-reduce(p), replica_groups={text}, to_apply=add", _ADD, ", replica_count=8", said) for text, said in (
        ("mesh['x'=2,'y'=4] {'x','x'}", "uses an axis twice"),
        ("mesh['x'=2,'x'=4] {'x'}", "two axes of one name"),
        ("mesh['x'=2,'y'=4] {'y':(1)2,'y':(2)2}", "can be merged"),
        ("mesh['x'=2,'y'=4], device_ids=(1,0,2,3,4,5,6) {'x'}", "are no order of the 8 devices"),
        ("mesh['x'=2,'y'=4], device_ids=([4,4]T(1,0)) {'x'}", "are no order of the 8 devices"),
        ("mesh['x'=2,'y'=2], device_ids=(1,0,2,3) {'2'}", "2 is not a valid axis name or index"),
        ("mesh['x'=2,'y'=2], device_ids=(1,0,2,3) {'1'}", "should contain 8 replicas, but contain 4"),
        ("mesh['x'=2] 'x'", "are not axes of a mesh"),
    )),
    ("p = f32[4] parameter(0), sharding={mesh['x'=4], [{'x'}]}\n  ROOT c = f32[4] copy(p)", "", ", num_partitions=2", "names 4 devices, but there are 2"),
    # Headers.
    ("p = f32[2,3] parameter(0)\n  ROOT n = f32[2,3] negate(p)", "", ", input_output_alias={ {}: (0, {}, must-alias) }, entry_computation_layout={(f32[2,3]{0,1})->f32[2,3]{1,0}}", "must be those of parameter 0"),
    ("p = (f32[2]) parameter(0)\n  ROOT n = (f32[2]) copy(p)", "", ", input_output_alias={ {}: (0, {}) }", "an alias joins arrays"),
    ("p = (f32[2]) parameter(0)\n  ROOT n = (f32[2]) copy(p)", "", ", buffer_donor={ (0, {}) }", "which is not an array"),
    (_PAIR, "", ", input_output_alias={ {0} (0, {0}) }", "expects integers in entries"),
    (_PAIR, "", ", input_output_alias={ {5}: (0, {0}) }", "which do not exist"),
    (_PAIR, "", ", input_output_alias={ {0}: (0, {0}), {1}: (0, {0}) }", "is already aliased"),
    (_PAIR, "", ", buffer_donor={ (3, {0}) }", "names parameter 3"),
    (_PAIR, "", ", input_output_alias={ {0}: (0, {0}) }, buffer_donor={ (0, {0}) }", "but is also aliased"),
    (_PAIR, "", ", frobnicate=1", "a module has no attribute frobnicate"),
    (_PAIR, "", ', debug_attributes={ {"a"}: ({log_mode=loud}) }', "debug_attributes expects entries"),
    (_PAIR, "", ", entry_computation_layout={((f32[], f32[]), f32[])->(f32[], f32[])}", "the entry layout has 2 parameters"),
]  # fmt: skip

HEADERS = [
    ("(a: f32[4]) -> s32[99,7]", "gives s32[99,7], which is not compatible"),
    # XLA's parser skips the parameters.
    ("(a: f32[5]) -> f32[4]", "parameter 0 in the header of %e is f32[5]"),
    ("(a: f32[4], b: f32[4]) -> f32[4]", "has 2 parameters instead of 1"),
]

# Modules that XLA accepts and that look like mistakes.
ACCEPTED = [
    ("tuple = (f32[]) parameter(0)\n  ROOT n = f32[] get-tuple-element(tuple), index=0", ""),
    ("%f32 = f32[] parameter(0)\n  ROOT %n = f32[] negate(%f32)", ""),
    ("i = f32[8] parameter(0)\n  ROOT s = f32[8] all-reduce(i), replica_groups={{0},{1,2}}, to_apply=add", _ADD),
    ("c = f32[] constant(0)\n  d = f32[] constant(1)\n  ROOT r = f16[10] rng(c, d), distribution=rng_normal", ""),
    ("i = f32[4] parameter(0)\n  z = f32[] parameter(1)\n  ROOT s = (f32[4], f32[]) scan(i, z), dimensions={0}, num_carries=1, to_apply=g", _SCANNED),
    ("p = f32[4] parameter(0)\n  ROOT f = f32[4] fusion(p, p), kind=kLoop, calls=c", "c {\n  x = f32[4] parameter(0)\n  ROOT r = f32[4] negate(x)\n}\n"),
    ("a = c64[0,3] parameter(0)\n  ROOT f = c64[0,3] fft(a), fft_type=FFT, fft_length={3}", ""),
    ("ROOT c = u64[] constant(-1)", ""),
    ("c = pred[] constant(0)\n  d = pred[] constant(1)\n  ROOT r = pred[10] rng(c, d), distribution=rng_uniform", ""),
    ("p = f32[4] parameter(0)\n  ROOT a = token[] after-all(p)", ""),
    ('p = f32[8] parameter(0)\n  ROOT c = f32[9] custom-call(p), custom_call_target="f", output_to_operand_aliasing={{}: (0, {})}, frontend_attributes={xla_skip_custom_call_alias_shape_check="true"}', ""),
    ('b = b(f32[8]) custom-call(), custom_call_target="CreateBuffer"\n  p = f32[1] parameter(0)\n  i = s32[] parameter(1)\n  c = b(f32[8]) dynamic-update-slice(b, p, i)\n  ROOT u = f32[8] custom-call(c), custom_call_target="Unpin", output_to_operand_aliasing={{}: (0, {})}', ""),
    ('b = b(f32[4]) custom-call(), custom_call_target="CreateBuffer"\n  c = b(f32[4]) call(b), to_apply=c, frontend_attributes={_xla_stream_annotation="1"}\n  ROOT u = f32[4] custom-call(c), custom_call_target="Unpin", output_to_operand_aliasing={{}: (0, {})}', "c {\n  ROOT x = b(f32[4]) parameter(0)\n}\n"),
    (f"p = f32[2,3] parameter(0)\n  s = {_STATE} async-start(p), calls=w, async_execution_thread=\"sparsecore\"\n  ROOT d = f32[3,2] async-done(s)", _ASYNC.replace("ROOT r", "n = f32[2,3] negate(p)\n  ROOT r").replace("call(p)", "call(n)")),
    ("p = f32[2,3] parameter(0)\n  s = ((f32[2,3]), f32[2,3], s32[]) call-start(p), to_apply=c, output_to_operand_aliasing={{1}: (0, {})}\n  ROOT d = f32[2,3] call-done(s)", "c {\n  ROOT x = f32[2,3] parameter(0)\n}\n"),
    ("p = f32[4] parameter(0)\n  s = ((f32[4]), (), s32[]) async-start(p), calls=c, output_to_operand_aliasing={{1, 0}: (0, {})}\n  u = ((f32[4], f32[4]), (f32[4], f32[4]), s32[]) async-update(s, p)\n  ROOT d = (f32[4], f32[4]) async-done(u)", "c {\n  x = f32[4] parameter(0)\n  y = f32[4] parameter(1)\n  ROOT t = (f32[4], f32[4]) tuple(x, y)\n}\n"),
    ("a = f32[1,4] parameter(0)\n  b = f32[1,1] parameter(1)\n  i = s32[1,1] parameter(2)\n  ROOT c = f32[1,1] convolution(a, b, i), dim_labels=bf_io->bf, sparsity_config={rhs={sparsity=1x4 dimension=0 stride=1 idx=2}}", ""),
    ("a = s64[4] parameter(0)\n  ROOT d = s32[] dot(a, a), lhs_contracting_dims={0}, rhs_contracting_dims={0}", ""),
    ("t = token[] after-all()\n  r = (f32[4], u32[4], token[]) recv(t), channel_id=1\n  ROOT d = (f32[4], token[]) recv-done(r), channel_id=1", ""),
    ("t = token[] after-all()\n  ROOT o = token[] outfeed(t, t), sharding={{replicated}, {manual}}", ""),
    ("p = c64[8] parameter(0)\n  ROOT f = c64[8] fft(p), fft_type=FFT, fft_length={32}", ""),
    ("p = f32[8,8] parameter(0), sharding={devices=[2,1,2,2]0,1,2,3,4,5,6,7 last_tile_dims={manual, replicated}}\n  ROOT c = f32[8,8] copy(p)", ""),
    ("p = f32[8,8] parameter(0), sharding={mesh['a.b'=2,'z/w'=4], device_ids=([4,2]T(1,0)), [{'a.b'}, {'z/w':(2)2, ?}], replicated={'z/w':(1)2}}\n  ROOT c = f32[8,8] copy(p)", ""),
    *((f"p = f32[8] parameter(0)\n  ROOT r = f32[8] all-reduce(p), replica_groups={text}, to_apply=add", _ADD) for text in (
        "mesh['x'=2,'y'=4], device_ids=(1,0,2,3,4,5,6,7) {'y':(1)2}", "mesh['x'=2,'y'=4], device_ids=([4,2]T(1,0)) {'1','0'}", 'mesh["x"=2,"y"=4] {"y"}',
    )),
    ("p = f32[] parameter(0), sharding={mesh['x'=2,'y'=2], unreduced=max{'x', 'y'}}\n  ROOT c = f32[] copy(p), sharding={maximal_mesh[device_id=5]}", ""),
    ("p = f32[4] parameter(0)\n  r = s32[1] parameter(1)\n  ROOT c = f32[4] collective-reduce(p, r), has_dynamic_root=true, to_apply=add", _ADD),
    ("p = f32[] parameter(0)\n  ROOT r = f32[] reduce-window(p, p), to_apply=add", _ADD),
    ("p = bf16[4] parameter(0)\n  z = f32[] constant(0)\n  ROOT r = f32[] reduce(p, z), dimensions={0}, to_apply=c", "c {\n  x = f32[] parameter(0)\n  y = bf16[] parameter(1)\n  ROOT z = f32[] add(x, y)\n}\n"),
    ("p = f32[8,4] parameter(0)\n  z = (s32[], s32[]) parameter(1)\n  ROOT c = f32[8,4] collective-permute(p, p, z, z), source_target_pairs={{0,1}}, slice_sizes={{2,4}}", ""),
    ("ROOT c = f32[2,2] constant({ /* rows */ {1, 2}, // one\n  {3, 4}})", ""),
]  # fmt: skip


def problems(text: str, **options: Any) -> list[Diagnostic]:
    try:
        found = list(find_problems(parse_module(text), **options))
    except DiagnosticError as error:
        return list(error.diagnostics)
    return [problem for problem in found if problem.severity == "error"]


def module(body: str, computations: str = "", attributes: str = "") -> str:
    return f"HloModule m{attributes}\n\n{computations}ENTRY e {{\n  {body}\n}}\n"


@pytest.mark.parametrize(("body", "computations", "attributes", "said"), MISTAKES)
def test_each_mistake_is_found_and_located(body: str, computations: str, attributes: str, said: str) -> None:
    found = problems(module(body, computations, attributes))
    assert said in " ".join(problem.message for problem in found)


@pytest.mark.parametrize(("body", "computations"), ACCEPTED)
def test_odd_modules_that_xla_accepts_are_accepted(body: str, computations: str) -> None:
    assert problems(module(body, computations)) == []


@pytest.mark.parametrize(("header", "said"), HEADERS)
def test_the_header_of_a_computation_is_verified(header: str, said: str) -> None:
    body = "a = f32[4] parameter(0)\n  ROOT n = f32[4] negate(a)"
    right = module(body).replace("ENTRY e {", "ENTRY e (a: f32[4]) -> f32[4] {")
    assert problems(right) == []
    (found,) = find_problems(parse_module(right.replace("(a: f32[4]) -> f32[4]", header)))
    assert said in found.message
    assert found.severity == ("error" if "compatible" in said else "warning")


_NO_COLON = "expected a shape, found ':'"


def test_a_colon_belongs_to_the_name_before_it() -> None:
    right = module("a = f32[4] parameter(0)\n  ROOT n = f32[4] negate(a)")
    for name, said in (("a:", []), ("a", []), ("%a", []), ("%a:", [_NO_COLON]), ("a :", [_NO_COLON])):
        found = problems(right.replace("ENTRY e {", f"ENTRY e ({name} f32[4]) -> f32[4] {{"))
        assert [each.message for each in found] == said


def test_the_caret_is_under_the_attribute_or_operand_at_fault() -> None:
    for body, part in (
        ("i = f32[8] parameter(0)\n  ROOT s = f32[16] all-gather(i), dimensions={7}", "dimensions={7}"),
        (
            "i = f32[8] parameter(0)\n  j = f32[] parameter(1)\n  ROOT s = f32[1] dynamic-slice(i, j), dynamic_slice_sizes={1}",
            "j",
        ),
        ("i = f32[8] parameter(0)\n  ROOT s = f32[7] negate(i)", "f32[7]"),
    ):
        (problem,) = problems(module(body))
        assert problem.location is not None
        span = problem.location.span
        assert module(body)[span.start : span.end] == part


def test_layouts_are_compared_where_they_are_assigned() -> None:
    body = "a = f32[4,4]{1,0} parameter(0)\n  ROOT n = f32[4,4]{0,1} negate(a)"
    assert problems(module(body)) == []
    assert "should not change layouts" in problems(module(body), is_layout_sensitive=True)[0].message


@pytest.mark.parametrize(
    "body",
    [
        "p = (f32[4,4]{1,0}) parameter(0)\n  ROOT g = f32[4,4]{0,1} get-tuple-element(p), index=0",
        "p = f32[4,4]{1,0} parameter(0)\n  ROOT t = (f32[4,4]{0,1}) tuple(p)",
        "p = f32[4]{0:S(1)} parameter(0)\n  ROOT b = f32[4]{0} opt-barrier(p)",
        "p = s4[8]{0:E(4)} parameter(0)\n  ROOT n = s4[8]{0} negate(p)",
        "p = f32[8]{0:S(5)} parameter(0)\n  ROOT b = f32[8]{0} bitcast(p)",
        "p = f32[2,3]{1,0} parameter(0)\n  s = (f32[2,3]{0,1}, f32[2,3]{1,0}, u32[]) copy-start(p)\n  ROOT d = f32[2,3]{0,1} copy-done(s)",
        "p = f32[8,8]{1,0:T(8,128)S(5)} parameter(0)\n  ROOT c = f32[8,8]{0,1:T(8,128)} copy(p)",
        "p = f32[4,8]{1,0} parameter(0)\n  i = s32[] parameter(1)\n  ROOT d = f32[1,8]{1,0:S(5)} dynamic-slice(p, i, i), dynamic_slice_sizes={1,8}",
        "p = c64[4,4]{1,0} parameter(0)\n  ROOT f = c64[4,4]{0,1} fft(p), fft_type=FFT, fft_length={4}",
    ],
)
def test_operations_that_forward_or_keep_layouts_keep_all_of_them(body: str) -> None:
    assert problems(module(body)) == []
    assert len(problems(module(body), is_layout_sensitive=True)) == 1


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("aliases", ["", ", output_to_operand_aliasing={{1}: (0, {})}"])
def test_an_all_reduce_starts_with_its_results_alone_or_with_its_operands(count: int, aliases: str) -> None:
    arrays = ["f32[8]", "f32[4]"][:count]
    given = "\n  ".join(f"p{number} = {each} parameter({number})" for number, each in enumerate(arrays))
    results = arrays[0] if count == 1 else f"({', '.join(arrays)})"
    for shape in (results, f"(({', '.join(arrays)}), {results})"):
        names = ", ".join(f"p{number}" for number in range(count))
        start = f"s = {shape} all-reduce-start({names}), to_apply=add{aliases if shape != results else ''}"
        assert problems(module(f"{given}\n  {start}\n  ROOT d = {results} all-reduce-done(s)", _ADD)) == []


@pytest.mark.parametrize("opcode", ["all-gather", "collective-permute"])
def test_a_start_holds_one_operand_alone_or_in_a_tuple(opcode: str) -> None:
    size, attributes = (
        (16, "replica_groups={{0,1}}, dimensions={0}") if opcode == "all-gather" else (8, "source_target_pairs={{0,1}}")
    )
    for operand, wrong in (("f32[8]", "(f32[7])"), ("(f32[8])", "(f32[7])")):
        for given in (operand, wrong):
            start = f"s = ({given}, f32[{size}]) {opcode}-start(p), {attributes}"
            body = f"p = f32[8] parameter(0)\n  {start}\n  ROOT d = f32[{size}] {opcode}-done(s)"
            assert (problems(module(body, attributes=", replica_count=2")) == []) == (given == operand)


def test_constraints_of_custom_calls_are_no_layouts_of_operands() -> None:
    call = 'ROOT c = f32[2,3]{1,0} custom-call(p), custom_call_target="f", operand_layout_constraints={f32[2,3]{1,0}}'
    assert problems(module(f"p = f32[2,3]{{0,1}} parameter(0)\n  {call}"), is_layout_sensitive=True) == []


def test_leniency_is_one_parameter() -> None:
    text = module("a = f32[4] parameter(0)\n  ROOT n = bf16[4] add(a, a)")
    assert list(find_problems(parse_module(text), is_lenient=True)) == []
    assert [each.message for each in find_problems(parse_module(text))] == [
        "n: operand 0 of add is f32, but the result bf16"
    ]


@cache
def xla_cases() -> list[dict[str, Any]]:
    return [case for path in XLA_TESTS for case in json.loads(path.read_text(encoding="utf-8"))]


def answers(expected: str) -> dict[str, list[Diagnostic]]:
    """Returns the errors in XLA's test modules; the parser's tests verify no module that they accept."""
    found = {}
    for case in xla_cases():
        fixture, _, name = case["id"].rpartition(" ")[2].partition(".")
        is_parsed = "hlo_parser_test" in case["id"] and expected == "accept"
        if case["expect"] != expected:
            continue
        options = {"is_mixed": "AllowMixedPrecision" in fixture, "is_unbounded": False, **OPTIONS.get(name, {})}
        counts = rf"\1, {COUNTS[name]}" if name in COUNTS else r"\1"
        text = re.sub(r"(HloModule \w+)", counts, case["text"], count=1)
        answer = parsed(text) if is_parsed else problems(text, is_layout_sensitive=case["layout_sensitive"], **options)
        found[f"{fixture}.{name}"] = answer
    return found


def parsed(text: str) -> list[Diagnostic]:
    try:
        parse_module(text)
    except DiagnosticError as error:
        return list(error.diagnostics)
    return []


@pytest.mark.shared(*XLA_TESTS)
def test_modules_that_xla_accepts_are_accepted() -> None:
    assert {name: found for name, found in answers("accept").items() if found} == {}


@pytest.mark.shared(*XLA_TESTS)
def test_modules_that_xla_rejects_are_rejected() -> None:
    missed = {name.partition(".")[2] for name, found in answers("refuse").items() if not found}
    assert missed == set(NOT_REJECTED)


@pytest.mark.parametrize(
    ("body", "option", "said"),
    [
        ("p = f32[?] parameter(0)\n  ROOT n = f32[?] negate(p)", {"is_unbounded": False}, "unbounded dynamism"),
        ("p = f32[4] parameter(0)\n  q = bf16[4] parameter(1)\n  ROOT a = f32[4] add(p, q)", {"is_mixed": False}, "mixes floats of the precisions f32 and bf16"),
        ("p = f32[4,2] parameter(0)\n  ROOT b = f32[2,4] broadcast(p), dimensions={1,0}", {"also": ["ordered-broadcasts"]}, "should be ordered"),
        ("ROOT p = f32[4]{0:S(5)} parameter(0)", {"also": ["no-host-memory"]}, "host memory space"),
        ("p = f32[4,2]{1,0} parameter(0)\n  ROOT r = f32[2,4]{0,1} reshape(p)", {"also": ["bitcast-reshapes"]}, "physical bitcast"),
        ('ROOT p = f32[4] parameter(0), metadata={scheduling_name="q"}', {"also": ["kept-names"]}, "remain that of the schedule"),
    ],
)  # fmt: skip
def test_each_option_adds_a_rule(body: str, option: dict[str, Any], said: str) -> None:
    assert problems(module(body)) == []
    assert said in problems(module(body), **option)[0].message


def test_shared_buffers_have_one_layout_where_layouts_are_assigned() -> None:
    call = 'ROOT c = f32[2,3]{0,1} custom-call(p), custom_call_target="f", output_to_operand_aliasing={{}: (0, {})}'
    text = module(f"p = f32[2,3]{{1,0}} parameter(0)\n  {call}")
    assert problems(text) == []
    assert "joins different shapes" in problems(text, is_layout_sensitive=True)[0].message
    assert problems(text.replace("{1,0}", "{0,1}"), is_layout_sensitive=True) == []


@pytest.mark.parametrize(("order", "count"), [("1,0", 0), ("0,1", 1)])
def test_the_entry_layout_may_lack_the_tiles_of_a_parameter(order: str, count: int) -> None:
    header = "entry_computation_layout={(s8[64,256]{1,0:T(32,128)(4,1)})->s32[64,256]{1,0:T(8,128)}}"
    text = f"HloModule m, {header}\nENTRY e {{\n  x = s8[64,256]{{{order}:T(8,128)(4,1)}} parameter(0)\n"
    assert len(problems(text + "  ROOT y = s32[64,256]{1,0:T(8,128)} convert(x)\n}\n")) == count
