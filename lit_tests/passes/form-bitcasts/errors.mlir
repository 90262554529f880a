// RUN: not relayout opt %s -p form-bitcasts 2>&1 | filecheck %s

// CHECK: error: pass form-bitcasts reads hlo, but module {{.*}} is stablehlo
func.func public @main(%arg0: tensor<3x5xf32>) -> tensor<5x3xf32> {
  %0 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<3x5xf32>) -> tensor<5x3xf32>
  return %0 : tensor<5x3xf32>
}
