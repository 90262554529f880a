module @jit_many_largest attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @empty_mesh = <[]> {stablehlo.mesh = {axes = []}}
  func.func public @main(%arg0: tensor<3x4000xbf16> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}) -> (tensor<3x64xbf16> {jax.result_info = "result[0]"}, tensor<3x64xi32> {jax.result_info = "result[1]"}) {
    %values, %indices = chlo.top_k(%arg0, k = 64) : tensor<3x4000xbf16> -> (tensor<3x64xbf16>, tensor<3x64xi32>)
    return %values, %indices : tensor<3x64xbf16>, tensor<3x64xi32>
  }
}
