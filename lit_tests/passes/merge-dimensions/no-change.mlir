// RUN: relayout opt %s > %t.before
// RUN: relayout opt %s -p merge-dimensions > %t.after
// RUN: diff %t.before %t.after

func.func public @main(%arg0: tensor<1024x8x4xf32>) -> tensor<1024x8x4xf32> {
  %0 = stablehlo.abs %arg0 : tensor<1024x8x4xf32>
  return %0 : tensor<1024x8x4xf32>
}
