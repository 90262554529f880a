// RUN: not relayout opt %s -p 'annotate-layouts{target=tpu-v5}' 2>&1 | filecheck %s

// CHECK: error: {{.*}}tpu-v5
func.func public @main(%arg0: tensor<3x5xf32>) -> tensor<3x5xf32> {
  return %arg0 : tensor<3x5xf32>
}
