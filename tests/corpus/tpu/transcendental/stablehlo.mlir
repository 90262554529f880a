module @jit_transcendental attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @empty_mesh = <[]> {stablehlo.mesh = {axes = []}}
  func.func public @main(%arg0: tensor<8x200xf32> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}, %arg1: tensor<8x200xf32> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}) -> (tensor<8x200xf32> {jax.result_info = "result[0]"}, tensor<8x200xf32> {jax.result_info = "result[1]"}, tensor<8x200xf32> {jax.result_info = "result[2]"}, tensor<8x200xf32> {jax.result_info = "result[3]"}, tensor<8x200xf32> {jax.result_info = "result[4]"}, tensor<8x200xf32> {jax.result_info = "result[5]"}) {
    %0 = stablehlo.exponential_minus_one %arg0 : tensor<8x200xf32>
    %1 = stablehlo.log_plus_one %arg1 : tensor<8x200xf32>
    %2 = stablehlo.tanh %arg0 : tensor<8x200xf32>
    %3 = chlo.erf_inv %2 : tensor<8x200xf32> -> tensor<8x200xf32>
    %4 = stablehlo.cbrt %arg1 : tensor<8x200xf32>
    %5 = stablehlo.atan2 %arg0, %arg1 : tensor<8x200xf32>
    %6 = chlo.digamma %arg1 : tensor<8x200xf32> -> tensor<8x200xf32>
    return %0, %1, %3, %4, %5, %6 : tensor<8x200xf32>, tensor<8x200xf32>, tensor<8x200xf32>, tensor<8x200xf32>, tensor<8x200xf32>, tensor<8x200xf32>
  }
}
