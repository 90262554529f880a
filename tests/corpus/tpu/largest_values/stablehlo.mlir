module @jit_largest_values attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @empty_mesh = <[]> {stablehlo.mesh = {axes = []}}
  func.func public @main(%arg0: tensor<6x400xbf16> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}, %arg1: tensor<500xf32> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}]>}) -> (tensor<6x3xbf16> {jax.result_info = "result[0][0]"}, tensor<6x3xi32> {jax.result_info = "result[0][1]"}, tensor<20xf32> {jax.result_info = "result[1][0]"}, tensor<20xi32> {jax.result_info = "result[1][1]"}, tensor<400x2xi32> {jax.result_info = "result[2]"}) {
    %values, %indices = chlo.top_k(%arg0, k = 3) : tensor<6x400xbf16> -> (tensor<6x3xbf16>, tensor<6x3xi32>)
    %values_0, %indices_1 = chlo.top_k(%arg1, k = 20) : tensor<500xf32> -> (tensor<20xf32>, tensor<20xi32>)
    %0 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<6x400xbf16>) -> tensor<400x6xbf16>
    %1 = stablehlo.negate %0 : tensor<400x6xbf16>
    %values_2, %indices_3 = chlo.top_k(%1, k = 2) : tensor<400x6xbf16> -> (tensor<400x2xbf16>, tensor<400x2xi32>)
    return %values, %indices, %values_0, %indices_1, %indices_3 : tensor<6x3xbf16>, tensor<6x3xi32>, tensor<20xf32>, tensor<20xi32>, tensor<400x2xi32>
  }
}
