module @jit_momentum_in_loop attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @empty_mesh = <[]> {stablehlo.mesh = {axes = []}}
  func.func public @main(%arg0: tensor<12x20xf32> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}, %arg1: tensor<20x20xf32> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>, tf.aliasing_output = 0 : i32}, %arg2: tensor<12x20xf32> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}) -> (tensor<20x20xf32> {jax.result_info = "result[0][0]"}, tensor<20x20xf32> {jax.result_info = "result[0][1]"}, tensor<3xf32> {jax.result_info = "result[1]"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<20x20xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %2:6 = stablehlo.while(%iterArg = %arg0, %iterArg_1 = %arg2, %iterArg_2 = %c, %iterArg_3 = %arg1, %iterArg_4 = %0, %iterArg_5 = %1) : tensor<12x20xf32>, tensor<12x20xf32>, tensor<i32>, tensor<20x20xf32>, tensor<20x20xf32>, tensor<3xf32>
    cond {
      %c_6 = stablehlo.constant dense<3> : tensor<i32>
      %3 = stablehlo.compare LT, %iterArg_2, %c_6, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %3 : tensor<i1>
    } do {
      %3:3 = func.call @closed_call(%iterArg, %iterArg_1, %iterArg_3, %iterArg_4) : (tensor<12x20xf32>, tensor<12x20xf32>, tensor<20x20xf32>, tensor<20x20xf32>) -> (tensor<20x20xf32>, tensor<20x20xf32>, tensor<f32>)
      %4 = func.call @dynamic_update_index_in_dim(%iterArg_5, %3#2, %iterArg_2) : (tensor<3xf32>, tensor<f32>, tensor<i32>) -> tensor<3xf32>
      %c_6 = stablehlo.constant dense<1> : tensor<i32>
      %5 = stablehlo.add %iterArg_2, %c_6 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_1, %5, %3#0, %3#1, %4 : tensor<12x20xf32>, tensor<12x20xf32>, tensor<i32>, tensor<20x20xf32>, tensor<20x20xf32>, tensor<3xf32>
    }
    return %2#3, %2#4, %2#5 : tensor<20x20xf32>, tensor<20x20xf32>, tensor<3xf32>
  }
  func.func private @closed_call(%arg0: tensor<12x20xf32>, %arg1: tensor<12x20xf32>, %arg2: tensor<20x20xf32>, %arg3: tensor<20x20xf32>) -> (tensor<20x20xf32>, tensor<20x20xf32>, tensor<f32>) {
    %0 = stablehlo.dot_general %arg0, %arg2, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<12x20xf32>, tensor<20x20xf32>) -> tensor<12x20xf32>
    %1 = stablehlo.subtract %0, %arg1 : tensor<12x20xf32>
    %2 = stablehlo.abs %1 : tensor<12x20xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<12x20xf32>
    %4 = stablehlo.compare GE, %1, %3, FLOAT : (tensor<12x20xf32>, tensor<12x20xf32>) -> tensor<12x20xi1>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %5 = stablehlo.reduce(%2 init: %cst_0) applies stablehlo.add across dimensions = [0, 1] : (tensor<12x20xf32>, tensor<f32>) -> tensor<f32>
    %cst_1 = stablehlo.constant dense<2.400000e+02> : tensor<f32>
    %6 = stablehlo.divide %5, %cst_1 : tensor<f32>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_3 = stablehlo.constant dense<2.400000e+02> : tensor<f32>
    %7 = stablehlo.divide %cst_2, %cst_3 : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [] : (tensor<f32>) -> tensor<12x20xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<12x20xf32>
    %10 = stablehlo.select %4, %9, %8 : tensor<12x20xi1>, tensor<12x20xf32>
    %11 = stablehlo.select %4, %8, %9 : tensor<12x20xi1>, tensor<12x20xf32>
    %12 = stablehlo.negate %10 : tensor<12x20xf32>
    %13 = stablehlo.add %11, %12 : tensor<12x20xf32>
    %14 = stablehlo.dot_general %13, %arg0, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<12x20xf32>, tensor<12x20xf32>) -> tensor<20x20xf32>
    %15 = stablehlo.transpose %14, dims = [1, 0] : (tensor<20x20xf32>) -> tensor<20x20xf32>
    %cst_5 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %16 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<20x20xf32>
    %17 = stablehlo.multiply %16, %arg3 : tensor<20x20xf32>
    %18 = stablehlo.add %17, %15 : tensor<20x20xf32>
    %cst_6 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %19 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<20x20xf32>
    %20 = stablehlo.multiply %19, %18 : tensor<20x20xf32>
    %21 = stablehlo.subtract %arg2, %20 : tensor<20x20xf32>
    return %21, %18, %6 : tensor<20x20xf32>, tensor<20x20xf32>, tensor<f32>
  }
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<3xf32>, %arg1: tensor<f32>, %arg2: tensor<i32>) -> tensor<3xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2 : (tensor<3xf32>, tensor<1xf32>, tensor<i32>) -> tensor<3xf32>
    return %1 : tensor<3xf32>
  }
}
