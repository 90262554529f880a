// RUN: relayout opt %s > %t.before
// RUN: relayout opt %s -p narrow-padding > %t.after
// RUN: diff %t.before %t.after

// Whole tiles have no padding.
func.func public @main(%arg0: tensor<256x256xf32>) -> tensor<256x256xf32> {
  %0 = stablehlo.abs %arg0 : tensor<256x256xf32>
  %1 = stablehlo.tanh %0 : tensor<256x256xf32>
  return %1 : tensor<256x256xf32>
}
