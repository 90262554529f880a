module @jit_sequence_parallel_norm attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=4]> {stablehlo.mesh = {axes = [{name = "x", size = 4 : i64}]}}
  func.func public @main(%arg0: tensor<4x10x140xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>}, %arg1: tensor<4x10x140xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>}) -> (tensor<4x10x140xf32> {jax.result_info = "result[0]"}, tensor<4x10x140xf32> {jax.result_info = "result[1]"}, tensor<4x10x140xf32> {jax.result_info = "result[2]"}, tensor<10x140xi32> {jax.result_info = "result[3]"}) {
    %0 = stablehlo.add %arg0, %arg1 : tensor<4x10x140xf32>
    %1 = sdy.sharding_constraint %0 <@mesh, [{}, {}, {"x"}]> : tensor<4x10x140xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2 = stablehlo.reduce(%1 init: %cst) applies stablehlo.add across dimensions = [2] : (tensor<4x10x140xf32>, tensor<f32>) -> tensor<4x10xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1] : (tensor<4x10xf32>) -> tensor<4x10x1xf32>
    %cst_0 = stablehlo.constant dense<1.400000e+02> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<4x10x1xf32>
    %5 = stablehlo.divide %3, %4 : tensor<4x10x1xf32>
    %6 = stablehlo.broadcast_in_dim %5, dims = [0, 1, 2] : (tensor<4x10x1xf32>) -> tensor<4x10x140xf32>
    %7 = stablehlo.subtract %1, %6 : tensor<4x10x140xf32>
    %8 = call @cumsum(%arg0) : (tensor<4x10x140xf32>) -> tensor<4x10x140xf32>
    %9 = stablehlo.reverse %arg0, dims = [0] : tensor<4x10x140xf32>
    %10 = call @argmax(%arg1) : (tensor<4x10x140xf32>) -> tensor<10x140xi32>
    return %7, %8, %9, %10 : tensor<4x10x140xf32>, tensor<4x10x140xf32>, tensor<4x10x140xf32>, tensor<10x140xi32>
  }
  func.func private @cumsum(%arg0: tensor<4x10x140xf32>) -> tensor<4x10x140xf32> {
    %0 = call @cumsum_0(%arg0) : (tensor<4x10x140xf32>) -> tensor<4x10x140xf32>
    return %0 : tensor<4x10x140xf32>
  }
  func.func private @cumsum_0(%arg0: tensor<4x10x140xf32>) -> tensor<4x10x140xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<f32>
    %1 = "stablehlo.reduce_window"(%arg0, %0) <{base_dilations = array<i64: 1, 1, 1>, padding = dense<[[3, 0], [0, 0], [0, 0]]> : tensor<3x2xi64>, window_dilations = array<i64: 1, 1, 1>, window_dimensions = array<i64: 4, 1, 1>, window_strides = array<i64: 1, 1, 1>}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %2 = stablehlo.add %arg1, %arg2 : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<4x10x140xf32>, tensor<f32>) -> tensor<4x10x140xf32>
    return %1 : tensor<4x10x140xf32>
  }
  func.func private @argmax(%arg0: tensor<4x10x140xf32>) -> tensor<10x140xi32> {
    %0 = stablehlo.iota dim = 0 : tensor<4x10x140xi32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1:2 = stablehlo.reduce(%arg0 init: %cst), (%0 init: %c) across dimensions = [0] : (tensor<4x10x140xf32>, tensor<4x10x140xi32>, tensor<f32>, tensor<i32>) -> (tensor<10x140xf32>, tensor<10x140xi32>)
     reducer(%arg1: tensor<f32>, %arg3: tensor<f32>) (%arg2: tensor<i32>, %arg4: tensor<i32>)  {
      %2 = stablehlo.compare GT, %arg1, %arg3, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %3 = stablehlo.compare NE, %arg1, %arg1, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %4 = stablehlo.or %2, %3 : tensor<i1>
      %5 = stablehlo.compare EQ, %arg1, %arg3, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %6 = stablehlo.compare LT, %arg2, %arg4, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %7 = stablehlo.and %5, %6 : tensor<i1>
      %8 = stablehlo.or %4, %7 : tensor<i1>
      %9 = stablehlo.select %4, %arg1, %arg3 : tensor<i1>, tensor<f32>
      %10 = stablehlo.select %8, %arg2, %arg4 : tensor<i1>, tensor<i32>
      stablehlo.return %9, %10 : tensor<f32>, tensor<i32>
    }
    return %1#1 : tensor<10x140xi32>
  }
}
