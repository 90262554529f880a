module @jit_nibbles attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @empty_mesh = <[]> {stablehlo.mesh = {axes = []}}
  func.func public @main(%arg0: tensor<9x130xi4> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}, %arg1: tensor<9x130xui4> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}) -> (tensor<9x130xi8> {jax.result_info = "result[0]"}, tensor<9x130xui4> {jax.result_info = "result[1]"}, tensor<130x9xi4> {jax.result_info = "result[2]"}, tensor<13x130xi4> {jax.result_info = "result[3]"}) {
    %0 = stablehlo.convert %arg0 : (tensor<9x130xi4>) -> tensor<9x130xi8>
    %c = stablehlo.constant dense<3> : tensor<i8>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i8>) -> tensor<9x130xi8>
    %2 = stablehlo.multiply %0, %1 : tensor<9x130xi8>
    %3 = stablehlo.convert %arg1 : (tensor<9x130xui4>) -> tensor<9x130xi32>
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %4 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<9x130xi32>
    %5 = stablehlo.add %3, %4 : tensor<9x130xi32>
    %6 = stablehlo.convert %5 : (tensor<9x130xi32>) -> tensor<9x130xui4>
    %7 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<9x130xi4>) -> tensor<130x9xi4>
    %8 = stablehlo.slice %arg0 [0:4, 0:130] : (tensor<9x130xi4>) -> tensor<4x130xi4>
    %9 = stablehlo.concatenate %arg0, %8, dim = 0 : (tensor<9x130xi4>, tensor<4x130xi4>) -> tensor<13x130xi4>
    return %2, %6, %7, %9 : tensor<9x130xi8>, tensor<9x130xui4>, tensor<130x9xi4>, tensor<13x130xi4>
  }
}
