module @jit_bit_operations attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @empty_mesh = <[]> {stablehlo.mesh = {axes = []}}
  func.func public @main(%arg0: tensor<6x130xui32> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}, %arg1: tensor<6x130xui32> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}) -> (tensor<6x130xui32> {jax.result_info = "result[0]"}, tensor<6x130xui32> {jax.result_info = "result[1]"}, tensor<6x130xui32> {jax.result_info = "result[2]"}, tensor<6x130xi32> {jax.result_info = "result[3]"}, tensor<6x130xui32> {jax.result_info = "result[4]"}) {
    %0 = stablehlo.popcnt %arg0 : tensor<6x130xui32>
    %1 = stablehlo.count_leading_zeros %arg0 : tensor<6x130xui32>
    %2 = stablehlo.shift_left %arg0, %arg1 : tensor<6x130xui32>
    %3 = stablehlo.convert %arg0 : (tensor<6x130xui32>) -> tensor<6x130xi32>
    %c = stablehlo.constant dense<3> : tensor<i32>
    %4 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<6x130xi32>
    %5 = stablehlo.shift_right_arithmetic %3, %4 : tensor<6x130xi32>
    %6 = stablehlo.not %arg1 : tensor<6x130xui32>
    %7 = stablehlo.xor %arg0, %6 : tensor<6x130xui32>
    return %0, %1, %2, %5, %7 : tensor<6x130xui32>, tensor<6x130xui32>, tensor<6x130xui32>, tensor<6x130xi32>, tensor<6x130xui32>
  }
}
