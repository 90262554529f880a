// RUN: not relayout opt %s -p 'strip-layouts{keep=everything}' 2>&1 | filecheck %s

// CHECK: error: option keep is nothing|order|memory-space, not everything
func.func public @main(%x: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %n = stablehlo.negate %x : tensor<4x6xf32>
  return %n : tensor<4x6xf32>
}
