// RUN: relayout opt %s -p verify-layouts > %t
// RUN: diff %s %t

func.func public @main(%arg0: tensor<3x5xf32> {mhlo.layout_mode = "{0,1:T(2,2)}"}) -> tensor<3x5xf32> {
  %0 = stablehlo.negate %arg0 {xla_shape = "f32[3,5]{1,0:T(2,2)}"} : tensor<3x5xf32>
  return %0 : tensor<3x5xf32>
}
