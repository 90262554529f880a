// RUN: relayout opt %s > %t.before
// RUN: relayout opt %s -p propagate-layouts > %t.after
// RUN: diff %t.before %t.after

func.func public @main(%arg0: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %0 = stablehlo.negate %arg0 : tensor<3x5xf32>
  return %0 : tensor<3x5xf32>
}
