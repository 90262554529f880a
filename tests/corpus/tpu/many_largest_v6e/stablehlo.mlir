module @jit_many_largest_v6e attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @empty_mesh = <[]> {stablehlo.mesh = {axes = []}}
  func.func public @main(%arg0: tensor<2x3000xf32> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}) -> (tensor<2x100xf32> {jax.result_info = "result[0]"}, tensor<2x16xi32> {jax.result_info = "result[1]"}) {
    %values, %indices = chlo.top_k(%arg0, k = 100) : tensor<2x3000xf32> -> (tensor<2x100xf32>, tensor<2x100xi32>)
    %0 = stablehlo.negate %arg0 : tensor<2x3000xf32>
    %values_0, %indices_1 = chlo.top_k(%0, k = 16) : tensor<2x3000xf32> -> (tensor<2x16xf32>, tensor<2x16xi32>)
    return %values, %indices_1 : tensor<2x100xf32>, tensor<2x16xi32>
  }
}
