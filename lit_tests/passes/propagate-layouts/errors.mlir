// RUN: not relayout opt %s -p propagate-layouts 2>&1 | filecheck %s

// CHECK: error: {{.*}}layout {0} orders 1 dimensions, but the rank is 2
func.func public @main(%arg0: tensor<5x4xf32> {mhlo.layout_mode = "{0}"}) -> tensor<5x4xf32> {
  %0 = stablehlo.negate %arg0 : tensor<5x4xf32>
  return %0 : tensor<5x4xf32>
}
