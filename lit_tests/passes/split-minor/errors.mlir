// RUN: not relayout opt %s -p 'split-minor{most=few}' 2>&1 | filecheck %s

// CHECK: error: option most is an integer, not few
func.func public @main(%arg0: tensor<8x2xf32>) -> tensor<8x2xf32> {
  return %arg0 : tensor<8x2xf32>
}
