module @jit_product_of_blocks_with_scales attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @empty_mesh = <[]> {stablehlo.mesh = {axes = []}}
  func.func public @main(%arg0: tensor<2x32x64xf8E4M3FN> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}, {}]>}, %arg1: tensor<2x16x64xf8E4M3FN> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}, {}]>}, %arg2: tensor<2x32x2xf8E8M0FNU> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}, {}]>}, %arg3: tensor<2x16x2xf8E8M0FNU> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}, {}]>}) -> (tensor<2x32x16xf32> {jax.result_info = "result"}) {
    %0 = call @_scaled_matmul(%arg0, %arg1, %arg2, %arg3) : (tensor<2x32x64xf8E4M3FN>, tensor<2x16x64xf8E4M3FN>, tensor<2x32x2xf8E8M0FNU>, tensor<2x16x2xf8E8M0FNU>) -> tensor<2x32x16xf32>
    return %0 : tensor<2x32x16xf32>
  }
  func.func private @_scaled_matmul(%arg0: tensor<2x32x64xf8E4M3FN>, %arg1: tensor<2x16x64xf8E4M3FN>, %arg2: tensor<2x32x2xf8E8M0FNU>, %arg3: tensor<2x16x2xf8E8M0FNU>) -> tensor<2x32x16xf32> {
    %0 = stablehlo.custom_call @__op$block_scaled_dot(%arg0, %arg1, %arg2, %arg3) {api_version = 2 : i32, backend_config = "{\22scaled_dot_backend_config\22: {\22lhs_batch_dimensions\22: [0], \22rhs_batch_dimensions\22: [0], \22dequantize_type\22: \22F32\22}}", operand_layouts = [dense<[2, 1, 0]> : tensor<3xindex>, dense<[2, 1, 0]> : tensor<3xindex>, dense<[2, 1, 0]> : tensor<3xindex>, dense<[2, 1, 0]> : tensor<3xindex>], result_layouts = [dense<[2, 1, 0]> : tensor<3xindex>]} : (tensor<2x32x64xf8E4M3FN>, tensor<2x16x64xf8E4M3FN>, tensor<2x32x2xf8E8M0FNU>, tensor<2x16x2xf8E8M0FNU>) -> tensor<2x32x16xf32>
    return %0 : tensor<2x32x16xf32>
  }
}
