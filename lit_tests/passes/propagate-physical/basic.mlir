// RUN: relayout opt %s -p 'annotate-layouts{target=tpu-v5e},expand-tiling{interface=physical},propagate-physical' --strip-comments | filecheck %s

// CHECK-LABEL: func.func public @main(%arg0: tensor<1x1x4x128xf32>
func.func public @main(%arg0: tensor<3x5xf32>) -> tensor<3x5xf32> {
  // CHECK: [[C:%.*]] = stablehlo.constant dense<3.0{{.*}}>
  %0 = stablehlo.constant dense<3.0> : tensor<3x5xf32>
  // CHECK: [[M:%.*]] = stablehlo.multiply %arg0, {{%.*}} : tensor<1x1x4x128xf32>
  %1 = stablehlo.multiply %arg0, %0 : tensor<3x5xf32>
  // CHECK: [[E:%.*]] = stablehlo.exponential [[M]] : tensor<1x1x4x128xf32>
  %2 = stablehlo.exponential %1 : tensor<3x5xf32>
  // CHECK: return [[E]]
  return %2 : tensor<3x5xf32>
}
