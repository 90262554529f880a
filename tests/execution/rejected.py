"""Programs that XLA rejects although their text is valid for our parser."""

# The reduction's computation returns another type than its parameters; two values of the text have the name `b`.
A_REDUCTION_OF_ANOTHER_TYPE = """HloModule m
f {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = s32[] constant(1)
}
ENTRY e {
  p = f32[3,4] parameter(0)
  z = f32[] constant(0)
  ROOT b = f32[3] reduce(p, z), dimensions={1}, to_apply=f
}
"""
