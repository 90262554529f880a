// RUN: relayout opt %s > %t.before
// RUN: relayout opt %s -p expand-tiling > %t.after
// RUN: diff %t.before %t.after

func.func public @main(%arg0: tensor<3x5xf32> {mhlo.layout_mode = "{0,1}"}) -> tensor<3x5xf32> {
  %0 = stablehlo.negate %arg0 {xla_shape = "f32[3,5]{0,1}"} : tensor<3x5xf32>
  return %0 : tensor<3x5xf32>
}
