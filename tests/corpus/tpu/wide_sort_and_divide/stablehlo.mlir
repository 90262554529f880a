module @jit_wide_sort_and_divide attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @empty_mesh = <[]> {stablehlo.mesh = {axes = []}}
  func.func public @main(%arg0: tensor<300xi64> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}]>}, %arg1: tensor<4x5xui64> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}) -> (tensor<300xi64> {jax.result_info = "result[0]"}, tensor<4x5xui64> {jax.result_info = "result[1]"}) {
    %0 = call @sort(%arg0) : (tensor<300xi64>) -> tensor<300xi64>
    %1 = call @cumsum(%arg1) : (tensor<4x5xui64>) -> tensor<4x5xui64>
    return %0, %1 : tensor<300xi64>, tensor<4x5xui64>
  }
  func.func private @sort(%arg0: tensor<300xi64>) -> tensor<300xi64> {
    %0 = "stablehlo.sort"(%arg0) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%arg1: tensor<i64>, %arg2: tensor<i64>):
      %1 = stablehlo.compare LT, %arg1, %arg2, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    }) : (tensor<300xi64>) -> tensor<300xi64>
    return %0 : tensor<300xi64>
  }
  func.func private @cumsum(%arg0: tensor<4x5xui64>) -> tensor<4x5xui64> {
    %0 = call @cumsum_0(%arg0) : (tensor<4x5xui64>) -> tensor<4x5xui64>
    return %0 : tensor<4x5xui64>
  }
  func.func private @cumsum_0(%arg0: tensor<4x5xui64>) -> tensor<4x5xui64> {
    %c = stablehlo.constant dense<0> : tensor<ui64>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<ui64>) -> tensor<ui64>
    %1 = "stablehlo.reduce_window"(%arg0, %0) <{base_dilations = array<i64: 1, 1>, padding = dense<[[0, 0], [4, 0]]> : tensor<2x2xi64>, window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 1, 5>, window_strides = array<i64: 1, 1>}> ({
    ^bb0(%arg1: tensor<ui64>, %arg2: tensor<ui64>):
      %2 = stablehlo.add %arg1, %arg2 : tensor<ui64>
      stablehlo.return %2 : tensor<ui64>
    }) : (tensor<4x5xui64>, tensor<ui64>) -> tensor<4x5xui64>
    return %1 : tensor<4x5xui64>
  }
}
