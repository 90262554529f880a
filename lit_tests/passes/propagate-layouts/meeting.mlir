// RUN: relayout opt %s -p propagate-layouts --strip-comments -o %t.mlir 2>&1 | filecheck %s
// RUN: relayout opt %s --strip-comments > %t.before
// RUN: diff %t.before %t.mlir

// CHECK: note: arg1 is laid out as f32[4,6]{1,0:T(2,128)}, but 0 as f32[4,6]{0,1}: StableHLO has no copy, both stay
func.func public @main(%arg0: tensor<4x6xf32> {mhlo.layout_mode = "{0,1}"}, %arg1: tensor<4x6xf32> {mhlo.layout_mode = "{1,0:T(2,128)}"}) -> (tensor<4x6xf32> {mhlo.layout_mode = "{0,1}"}) {
  %0 = stablehlo.add %arg0, %arg1 {xla_shape = "f32[4,6]{0,1}"} : tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}
