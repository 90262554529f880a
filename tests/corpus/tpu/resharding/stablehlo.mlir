module @jit_resharding attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=4]> {stablehlo.mesh = {axes = [{name = "x", size = 4 : i64}]}}
  func.func public @main(%arg0: tensor<20x48xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg1: tensor<48x20xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<20x48xf32> {jax.result_info = "result[0]"}, tensor<20x48xf32> {jax.result_info = "result[1]"}, tensor<20x48xf32> {jax.result_info = "result[2]"}, tensor<48x20xf32> {jax.result_info = "result[3]"}) {
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<20x48xf32>
    %1 = stablehlo.multiply %arg0, %0 : tensor<20x48xf32>
    %2 = sdy.sharding_constraint %1 <@mesh, [{}, {"x"}]> : tensor<20x48xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<48x20xf32>
    %4 = stablehlo.add %arg1, %3 : tensor<48x20xf32>
    %5 = sdy.sharding_constraint %4 <@mesh, [{}, {}]> : tensor<48x20xf32>
    %6 = stablehlo.transpose %5, dims = [1, 0] : (tensor<48x20xf32>) -> tensor<20x48xf32>
    %7 = call @sort(%arg0) : (tensor<20x48xf32>) -> tensor<20x48xf32>
    %8 = call @_roll_static(%arg1) : (tensor<48x20xf32>) -> tensor<48x20xf32>
    return %2, %6, %7, %8 : tensor<20x48xf32>, tensor<20x48xf32>, tensor<20x48xf32>, tensor<48x20xf32>
  }
  func.func private @sort(%arg0: tensor<20x48xf32>) -> tensor<20x48xf32> {
    %0 = "stablehlo.sort"(%arg0) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %1 = stablehlo.compare EQ, %arg1, %cst, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %2 = stablehlo.select %1, %cst_0, %arg1 : tensor<i1>, tensor<f32>
      %3 = stablehlo.compare NE, %arg1, %arg1, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_1 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
      %4 = stablehlo.select %3, %cst_1, %2 : tensor<i1>, tensor<f32>
      %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %5 = stablehlo.compare EQ, %arg2, %cst_2, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %6 = stablehlo.select %5, %cst_3, %arg2 : tensor<i1>, tensor<f32>
      %7 = stablehlo.compare NE, %arg2, %arg2, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_4 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
      %8 = stablehlo.select %7, %cst_4, %6 : tensor<i1>, tensor<f32>
      %9 = stablehlo.compare LT, %4, %8, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %9 : tensor<i1>
    }) : (tensor<20x48xf32>) -> tensor<20x48xf32>
    return %0 : tensor<20x48xf32>
  }
  func.func private @_roll_static(%arg0: tensor<48x20xf32>) -> tensor<48x20xf32> {
    %0 = stablehlo.slice %arg0 [47:48, 0:20] : (tensor<48x20xf32>) -> tensor<1x20xf32>
    %1 = stablehlo.slice %arg0 [0:47, 0:20] : (tensor<48x20xf32>) -> tensor<47x20xf32>
    %2 = stablehlo.concatenate %0, %1, dim = 0 : (tensor<1x20xf32>, tensor<47x20xf32>) -> tensor<48x20xf32>
    return %2 : tensor<48x20xf32>
  }
}
