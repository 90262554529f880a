module @jit_cond_with_tuples attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @empty_mesh = <[]> {stablehlo.mesh = {axes = []}}
  func.func public @main(%arg0: tensor<16x24xf32> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}, %arg1: tensor<f32> {sdy.sharding = #sdy.sharding<@empty_mesh, []>}) -> (tensor<16x16xf32> {jax.result_info = "result[0]"}, tensor<i1> {jax.result_info = "result[1]['flag']"}, tensor<24xf32> {jax.result_info = "result[1]['sum']"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.compare GT, %arg1, %cst, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %1 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<16x24xf32>) -> tensor<24x16xf32>
    %2 = stablehlo.convert %0 : (tensor<i1>) -> tensor<i32>
    %3:3 = "stablehlo.case"(%2) ({
      %4 = stablehlo.dot_general %arg0, %1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x24xf32>, tensor<24x16xf32>) -> tensor<16x16xf32>
      %5 = stablehlo.tanh %4 : tensor<16x16xf32>
      %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %6 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<16x16xf32>
      %7 = stablehlo.subtract %5, %6 : tensor<16x16xf32>
      %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %8 = stablehlo.reduce(%1 init: %cst_1) applies stablehlo.add across dimensions = [1] : (tensor<24x16xf32>, tensor<f32>) -> tensor<24xf32>
      %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %9 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<24x16xf32>
      %10 = stablehlo.compare GT, %1, %9, FLOAT : (tensor<24x16xf32>, tensor<24x16xf32>) -> tensor<24x16xi1>
      %c = stablehlo.constant dense<true> : tensor<i1>
      %11 = stablehlo.reduce(%10 init: %c) applies stablehlo.and across dimensions = [0, 1] : (tensor<24x16xi1>, tensor<i1>) -> tensor<i1>
      stablehlo.return %7, %11, %8 : tensor<16x16xf32>, tensor<i1>, tensor<24xf32>
    }, {
      %4 = stablehlo.dot_general %arg0, %1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x24xf32>, tensor<24x16xf32>) -> tensor<16x16xf32>
      %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %5 = stablehlo.reduce(%arg0 init: %cst_0) applies stablehlo.add across dimensions = [0] : (tensor<16x24xf32>, tensor<f32>) -> tensor<24xf32>
      %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %6 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<16x24xf32>
      %7 = stablehlo.compare GT, %arg0, %6, FLOAT : (tensor<16x24xf32>, tensor<16x24xf32>) -> tensor<16x24xi1>
      %c = stablehlo.constant dense<false> : tensor<i1>
      %8 = stablehlo.reduce(%7 init: %c) applies stablehlo.or across dimensions = [0, 1] : (tensor<16x24xi1>, tensor<i1>) -> tensor<i1>
      stablehlo.return %4, %8, %5 : tensor<16x16xf32>, tensor<i1>, tensor<24xf32>
    }) : (tensor<i32>) -> (tensor<16x16xf32>, tensor<i1>, tensor<24xf32>)
    return %3#0, %3#1, %3#2 : tensor<16x16xf32>, tensor<i1>, tensor<24xf32>
  }
}
