module @jit_greatest_common_divisor attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @empty_mesh = <[]> {stablehlo.mesh = {axes = []}}
  func.func public @main(%arg0: tensor<12xui32> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}]>}, %arg1: tensor<12xui32> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}]>}) -> (tensor<12xui32> {jax.result_info = "result[0]"}, tensor<12xui32> {jax.result_info = "result[1]"}) {
    %0:2 = stablehlo.while(%iterArg = %arg0, %iterArg_0 = %arg1) : tensor<12xui32>, tensor<12xui32>
    cond {
      %c = stablehlo.constant dense<0> : tensor<ui32>
      %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<ui32>) -> tensor<12xui32>
      %2 = stablehlo.compare NE, %iterArg_0, %1, UNSIGNED : (tensor<12xui32>, tensor<12xui32>) -> tensor<12xi1>
      %c_1 = stablehlo.constant dense<false> : tensor<i1>
      %3 = stablehlo.reduce(%2 init: %c_1) applies stablehlo.or across dimensions = [0] : (tensor<12xi1>, tensor<i1>) -> tensor<i1>
      stablehlo.return %3 : tensor<i1>
    } do {
      %c = stablehlo.constant dense<0> : tensor<ui32>
      %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<ui32>) -> tensor<12xui32>
      %2 = stablehlo.compare EQ, %iterArg_0, %1, UNSIGNED : (tensor<12xui32>, tensor<12xui32>) -> tensor<12xi1>
      %3 = func.call @_where(%2, %iterArg, %iterArg_0) : (tensor<12xi1>, tensor<12xui32>, tensor<12xui32>) -> tensor<12xui32>
      %c_1 = stablehlo.constant dense<0> : tensor<ui32>
      %4 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<ui32>) -> tensor<12xui32>
      %5 = stablehlo.compare EQ, %iterArg_0, %4, UNSIGNED : (tensor<12xui32>, tensor<12xui32>) -> tensor<12xi1>
      %c_2 = stablehlo.constant dense<1> : tensor<ui32>
      %6 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<ui32>) -> tensor<12xui32>
      %7 = stablehlo.maximum %iterArg_0, %6 : tensor<12xui32>
      %8 = func.call @remainder(%iterArg, %7) : (tensor<12xui32>, tensor<12xui32>) -> tensor<12xui32>
      %c_3 = stablehlo.constant dense<0> : tensor<i32>
      %9 = func.call @_where_0(%5, %c_3, %8) : (tensor<12xi1>, tensor<i32>, tensor<12xui32>) -> tensor<12xui32>
      stablehlo.return %3, %9 : tensor<12xui32>, tensor<12xui32>
    }
    return %0#0, %0#1 : tensor<12xui32>, tensor<12xui32>
  }
  func.func private @_where(%arg0: tensor<12xi1>, %arg1: tensor<12xui32>, %arg2: tensor<12xui32>) -> tensor<12xui32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<12xi1>, tensor<12xui32>
    return %0 : tensor<12xui32>
  }
  func.func private @remainder(%arg0: tensor<12xui32>, %arg1: tensor<12xui32>) -> tensor<12xui32> {
    %c = stablehlo.constant dense<0> : tensor<ui32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<ui32>) -> tensor<12xui32>
    %1 = stablehlo.compare EQ, %arg1, %0, UNSIGNED : (tensor<12xui32>, tensor<12xui32>) -> tensor<12xi1>
    %c_0 = stablehlo.constant dense<1> : tensor<ui32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<ui32>) -> tensor<12xui32>
    %3 = call @_where(%1, %2, %arg1) : (tensor<12xi1>, tensor<12xui32>, tensor<12xui32>) -> tensor<12xui32>
    %4 = stablehlo.remainder %arg0, %3 : tensor<12xui32>
    %c_1 = stablehlo.constant dense<0> : tensor<ui32>
    %5 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<ui32>) -> tensor<12xui32>
    %6 = stablehlo.compare NE, %4, %5, UNSIGNED : (tensor<12xui32>, tensor<12xui32>) -> tensor<12xi1>
    %c_2 = stablehlo.constant dense<0> : tensor<ui32>
    %7 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<ui32>) -> tensor<12xui32>
    %8 = stablehlo.compare LT, %4, %7, UNSIGNED : (tensor<12xui32>, tensor<12xui32>) -> tensor<12xi1>
    %c_3 = stablehlo.constant dense<0> : tensor<ui32>
    %9 = stablehlo.broadcast_in_dim %c_3, dims = [] : (tensor<ui32>) -> tensor<12xui32>
    %10 = stablehlo.compare LT, %3, %9, UNSIGNED : (tensor<12xui32>, tensor<12xui32>) -> tensor<12xi1>
    %11 = stablehlo.compare NE, %8, %10, UNSIGNED : (tensor<12xi1>, tensor<12xi1>) -> tensor<12xi1>
    %12 = stablehlo.and %11, %6 : tensor<12xi1>
    %13 = stablehlo.add %4, %3 : tensor<12xui32>
    %14 = stablehlo.select %12, %13, %4 : tensor<12xi1>, tensor<12xui32>
    return %14 : tensor<12xui32>
  }
  func.func private @_where_0(%arg0: tensor<12xi1>, %arg1: tensor<i32>, %arg2: tensor<12xui32>) -> tensor<12xui32> {
    %0 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<ui32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<ui32>) -> tensor<12xui32>
    %2 = stablehlo.select %arg0, %1, %arg2 : tensor<12xi1>, tensor<12xui32>
    return %2 : tensor<12xui32>
  }
}
