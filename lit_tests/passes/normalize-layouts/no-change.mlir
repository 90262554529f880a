// RUN: relayout opt %s > %t.before
// RUN: relayout opt %s -p normalize-layouts > %t.after
// RUN: diff %t.before %t.after

func.func public @main(%arg0: tensor<5x4xf32> {mhlo.layout_mode = "{0,1}"}) -> tensor<5xf32> {
  %0 = stablehlo.constant dense<0.0> : tensor<f32>
  %1 = stablehlo.reduce(%arg0 init: %0) applies stablehlo.add across dimensions = [1] : (tensor<5x4xf32>, tensor<f32>) -> tensor<5xf32>
  return %1 : tensor<5xf32>
}
