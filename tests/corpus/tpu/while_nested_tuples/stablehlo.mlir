module @jit_while_nested_tuples attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @empty_mesh = <[]> {stablehlo.mesh = {axes = []}}
  func.func public @main(%arg0: tensor<7x40xf32> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}, %arg1: tensor<i32> {sdy.sharding = #sdy.sharding<@empty_mesh, []>}) -> (tensor<i32> {jax.result_info = "result[0]"}, tensor<7x40xf32> {jax.result_info = "result[1][0]"}, tensor<9x7xf32> {jax.result_info = "result[1][1][0]"}, tensor<f32> {jax.result_info = "result[1][1][1]"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<9x7xf32>
    %cst_0 = stablehlo.constant dense<-1.000000e+01> : tensor<f32>
    %1:4 = stablehlo.while(%iterArg = %arg1, %iterArg_1 = %arg0, %iterArg_2 = %0, %iterArg_3 = %cst_0) : tensor<i32>, tensor<7x40xf32>, tensor<9x7xf32>, tensor<f32>
    cond {
      %c = stablehlo.constant dense<9> : tensor<i32>
      %2 = stablehlo.compare LT, %iterArg, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %2 : tensor<i1>
    } do {
      %cst_4 = stablehlo.constant dense<7.500000e-01> : tensor<f32>
      %2 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<7x40xf32>
      %3 = stablehlo.multiply %iterArg_1, %2 : tensor<7x40xf32>
      %cst_5 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
      %4 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<7x40xf32>
      %5 = stablehlo.add %3, %4 : tensor<7x40xf32>
      %c = stablehlo.constant dense<1> : tensor<i32>
      %6 = stablehlo.add %iterArg, %c : tensor<i32>
      %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %7 = stablehlo.reduce(%5 init: %cst_6) applies stablehlo.add across dimensions = [1] : (tensor<7x40xf32>, tensor<f32>) -> tensor<7xf32>
      %c_7 = stablehlo.constant dense<0> : tensor<i32>
      %8 = stablehlo.compare LT, %iterArg, %c_7, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_8 = stablehlo.constant dense<9> : tensor<i32>
      %9 = stablehlo.add %iterArg, %c_8 : tensor<i32>
      %10 = stablehlo.select %8, %9, %iterArg : tensor<i1>, tensor<i32>
      %11 = stablehlo.broadcast_in_dim %10, dims = [] : (tensor<i32>) -> tensor<1xi32>
      %12 = "stablehlo.scatter"(%iterArg_2, %11, %7) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>, unique_indices = true}> ({
      ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
        stablehlo.return %arg3 : tensor<f32>
      }) : (tensor<9x7xf32>, tensor<1xi32>, tensor<7xf32>) -> tensor<9x7xf32>
      %cst_9 = stablehlo.constant dense<0xFF800000> : tensor<f32>
      %13 = stablehlo.reduce(%5 init: %cst_9) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<7x40xf32>, tensor<f32>) -> tensor<f32>
      %14 = stablehlo.maximum %iterArg_3, %13 : tensor<f32>
      stablehlo.return %6, %5, %12, %14 : tensor<i32>, tensor<7x40xf32>, tensor<9x7xf32>, tensor<f32>
    }
    return %1#0, %1#1, %1#2, %1#3 : tensor<i32>, tensor<7x40xf32>, tensor<9x7xf32>, tensor<f32>
  }
}
