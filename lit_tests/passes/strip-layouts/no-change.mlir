// RUN: relayout opt %s -p strip-layouts > %t
// RUN: relayout opt %s > %t.same
// RUN: diff %t %t.same

func.func public @main(%x: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %n = stablehlo.negate %x : tensor<4x6xf32>
  return %n : tensor<4x6xf32>
}
