module @jit_tokens_to_experts_and_back attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x4x2x6xf32>, %arg1: tensor<4x6x6xf32>) -> (tensor<4x4x2x6xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.dot_general %arg1, %arg0, batching_dims = [0] x [1], contracting_dims = [1] x [3], precision = [DEFAULT, DEFAULT] : (tensor<4x6x6xf32>, tensor<4x4x2x6xf32>) -> tensor<4x6x4x2xf32>
    %1 = stablehlo.transpose %0, dims = [2, 0, 3, 1] : (tensor<4x6x4x2xf32>) -> tensor<4x4x2x6xf32>
    return %1 : tensor<4x4x2x6xf32>
  }
}
