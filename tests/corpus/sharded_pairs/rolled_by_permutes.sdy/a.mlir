module @jit_rolled_by_permutes attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<8x3xf32>) -> (tensor<8x3xf32> {jax.result_info = "result[0]"}, tensor<8x3xf32> {jax.result_info = "result[1]"}, tensor<8x3xf32> {jax.result_info = "result[2]"}) {
    %0 = call @_roll_static(%arg0) : (tensor<8x3xf32>) -> tensor<8x3xf32>
    %1 = call @_flip(%arg0) : (tensor<8x3xf32>) -> tensor<8x3xf32>
    return %0, %1, %arg0 : tensor<8x3xf32>, tensor<8x3xf32>, tensor<8x3xf32>
  }
  func.func private @_roll_static(%arg0: tensor<8x3xf32>) -> tensor<8x3xf32> {
    %0 = stablehlo.slice %arg0 [6:8, 0:3] : (tensor<8x3xf32>) -> tensor<2x3xf32>
    %1 = stablehlo.slice %arg0 [0:6, 0:3] : (tensor<8x3xf32>) -> tensor<6x3xf32>
    %2 = stablehlo.concatenate %0, %1, dim = 0 : (tensor<2x3xf32>, tensor<6x3xf32>) -> tensor<8x3xf32>
    return %2 : tensor<8x3xf32>
  }
  func.func private @_flip(%arg0: tensor<8x3xf32>) -> tensor<8x3xf32> {
    %0 = stablehlo.reverse %arg0, dims = [0] : tensor<8x3xf32>
    return %0 : tensor<8x3xf32>
  }
}
