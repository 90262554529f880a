module @jit_select_among_three attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @empty_mesh = <[]> {stablehlo.mesh = {axes = []}}
  func.func public @main(%arg0: tensor<9x200xf32> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}, %arg1: tensor<9x200xi32> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}) -> (tensor<9x200xf32> {jax.result_info = "result[0]"}, tensor<9xf32> {jax.result_info = "result[1]"}) {
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<9x200xf32>
    %1 = stablehlo.multiply %arg0, %0 : tensor<9x200xf32>
    %2:2 = stablehlo.optimization_barrier %1, %arg1 : tensor<9x200xf32>, tensor<9x200xi32>
    %3 = stablehlo.negate %arg0 : tensor<9x200xf32>
    %c = stablehlo.constant dense<1> : tensor<i32>
    %4 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<9x200xi32>
    %5 = stablehlo.compare LT, %2#1, %4, SIGNED : (tensor<9x200xi32>, tensor<9x200xi32>) -> tensor<9x200xi1>
    %c_0 = stablehlo.constant dense<2> : tensor<i32>
    %6 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<9x200xi32>
    %7 = stablehlo.compare LT, %2#1, %6, SIGNED : (tensor<9x200xi32>, tensor<9x200xi32>) -> tensor<9x200xi1>
    %8 = stablehlo.select %7, %2#0, %3 : tensor<9x200xi1>, tensor<9x200xf32>
    %9 = stablehlo.select %5, %arg0, %8 : tensor<9x200xi1>, tensor<9x200xf32>
    %c_1 = stablehlo.constant dense<2> : tensor<i32>
    %10 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<9x200xi32>
    %11 = stablehlo.compare EQ, %arg1, %10, SIGNED : (tensor<9x200xi32>, tensor<9x200xi32>) -> tensor<9x200xi1>
    %cst_2 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %12 = call @_where(%11, %cst_2, %arg0) : (tensor<9x200xi1>, tensor<f32>, tensor<9x200xf32>) -> tensor<9x200xf32>
    %13 = call @nanmax(%12) : (tensor<9x200xf32>) -> tensor<9xf32>
    return %9, %13 : tensor<9x200xf32>, tensor<9xf32>
  }
  func.func private @_where(%arg0: tensor<9x200xi1>, %arg1: tensor<f32>, %arg2: tensor<9x200xf32>) -> tensor<9x200xf32> {
    %0 = stablehlo.convert %arg1 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<9x200xf32>
    %2 = stablehlo.select %arg0, %1, %arg2 : tensor<9x200xi1>, tensor<9x200xf32>
    return %2 : tensor<9x200xf32>
  }
  func.func private @nanmax(%arg0: tensor<9x200xf32>) -> tensor<9xf32> {
    %0 = stablehlo.compare NE, %arg0, %arg0, FLOAT : (tensor<9x200xf32>, tensor<9x200xf32>) -> tensor<9x200xi1>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = call @_where_0(%0, %cst, %arg0) : (tensor<9x200xi1>, tensor<f32>, tensor<9x200xf32>) -> tensor<9x200xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %2 = stablehlo.reduce(%1 init: %cst_0) applies stablehlo.maximum across dimensions = [1] : (tensor<9x200xf32>, tensor<f32>) -> tensor<9xf32>
    %3 = stablehlo.compare NE, %arg0, %arg0, FLOAT : (tensor<9x200xf32>, tensor<9x200xf32>) -> tensor<9x200xi1>
    %c = stablehlo.constant dense<true> : tensor<i1>
    %4 = stablehlo.reduce(%3 init: %c) applies stablehlo.and across dimensions = [1] : (tensor<9x200xi1>, tensor<i1>) -> tensor<9xi1>
    %cst_1 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %5 = call @_where_1(%4, %cst_1, %2) : (tensor<9xi1>, tensor<f32>, tensor<9xf32>) -> tensor<9xf32>
    return %5 : tensor<9xf32>
  }
  func.func private @_where_0(%arg0: tensor<9x200xi1>, %arg1: tensor<f32>, %arg2: tensor<9x200xf32>) -> tensor<9x200xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<9x200xf32>
    %1 = stablehlo.select %arg0, %0, %arg2 : tensor<9x200xi1>, tensor<9x200xf32>
    return %1 : tensor<9x200xf32>
  }
  func.func private @_where_1(%arg0: tensor<9xi1>, %arg1: tensor<f32>, %arg2: tensor<9xf32>) -> tensor<9xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<9xf32>
    %1 = stablehlo.select %arg0, %0, %arg2 : tensor<9xi1>, tensor<9xf32>
    return %1 : tensor<9xf32>
  }
}
