module @jit_variadic_reduce attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @empty_mesh = <[]> {stablehlo.mesh = {axes = []}}
  func.func public @main(%arg0: tensor<18x200xf32> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}, %arg1: tensor<18x200xi32> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}) -> (tensor<200xf32> {jax.result_info = "result[0][0]"}, tensor<200xi32> {jax.result_info = "result[0][1]"}, tensor<200xf32> {jax.result_info = "result[1]"}, tensor<18xi1> {jax.result_info = "result[2]"}) {
    %cst = stablehlo.constant dense<-9.000000e+00> : tensor<f32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0:2 = stablehlo.reduce(%arg0 init: %cst), (%arg1 init: %c) across dimensions = [0] : (tensor<18x200xf32>, tensor<18x200xi32>, tensor<f32>, tensor<i32>) -> (tensor<200xf32>, tensor<200xi32>)
     reducer(%arg2: tensor<f32>, %arg4: tensor<f32>) (%arg3: tensor<i32>, %arg5: tensor<i32>)  {
      %8 = stablehlo.maximum %arg2, %arg4 : tensor<f32>
      %9 = stablehlo.xor %arg3, %arg5 : tensor<i32>
      stablehlo.return %8, %9 : tensor<f32>, tensor<i32>
    }
    %cst_0 = stablehlo.constant dense<1.200000e+00> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<18x200xf32>
    %2 = stablehlo.compare GT, %arg0, %1, FLOAT : (tensor<18x200xf32>, tensor<18x200xf32>) -> tensor<18x200xi1>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %3 = call @_where(%2, %arg0, %cst_1) : (tensor<18x200xi1>, tensor<18x200xf32>, tensor<f32>) -> tensor<18x200xf32>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %4 = stablehlo.reduce(%3 init: %cst_2) applies stablehlo.multiply across dimensions = [0] : (tensor<18x200xf32>, tensor<f32>) -> tensor<200xf32>
    %5 = stablehlo.convert %arg1 : (tensor<18x200xi32>) -> tensor<18x200xf32>
    %6 = stablehlo.compare GT, %5, %arg0, FLOAT : (tensor<18x200xf32>, tensor<18x200xf32>) -> tensor<18x200xi1>
    %c_3 = stablehlo.constant dense<true> : tensor<i1>
    %7 = stablehlo.reduce(%6 init: %c_3) applies stablehlo.and across dimensions = [1] : (tensor<18x200xi1>, tensor<i1>) -> tensor<18xi1>
    return %0#0, %0#1, %4, %7 : tensor<200xf32>, tensor<200xi32>, tensor<200xf32>, tensor<18xi1>
  }
  func.func private @_where(%arg0: tensor<18x200xi1>, %arg1: tensor<18x200xf32>, %arg2: tensor<f32>) -> tensor<18x200xf32> {
    %0 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<f32>) -> tensor<18x200xf32>
    %1 = stablehlo.select %arg0, %arg1, %0 : tensor<18x200xi1>, tensor<18x200xf32>
    return %1 : tensor<18x200xf32>
  }
}
