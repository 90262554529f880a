module @jit_data_parallel_step attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=4]> {stablehlo.mesh = {axes = [{name = "x", size = 4 : i64}]}}
  func.func public @main(%arg0: tensor<32x24xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg1: tensor<24x40xf32> {jax.buffer_donor = true, sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, %arg2: tensor<40x5xf32> {jax.buffer_donor = true, sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, %arg3: tensor<32x5xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<f32> {jax.result_info = "result[0]"}, tensor<24x40xf32> {jax.result_info = "result[1]"}, tensor<40x5xf32> {jax.result_info = "result[2]"}) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x24xf32>, tensor<24x40xf32>) -> tensor<32x40xf32>
    %1 = stablehlo.tanh %0 : tensor<32x40xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<32x40xf32>
    %3 = stablehlo.add %2, %1 : tensor<32x40xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<32x40xf32>
    %5 = stablehlo.subtract %4, %1 : tensor<32x40xf32>
    %6 = stablehlo.multiply %3, %5 : tensor<32x40xf32>
    %7 = stablehlo.dot_general %1, %arg2, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x40xf32>, tensor<40x5xf32>) -> tensor<32x5xf32>
    %8 = stablehlo.subtract %7, %arg3 : tensor<32x5xf32>
    %9 = stablehlo.multiply %8, %8 : tensor<32x5xf32>
    %cst_1 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<32x5xf32>
    %11 = stablehlo.multiply %10, %8 : tensor<32x5xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %12 = stablehlo.reduce(%9 init: %cst_2) applies stablehlo.add across dimensions = [0, 1] : (tensor<32x5xf32>, tensor<f32>) -> tensor<f32>
    %cst_3 = stablehlo.constant dense<1.600000e+02> : tensor<f32>
    %13 = stablehlo.divide %12, %cst_3 : tensor<f32>
    %cst_4 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_5 = stablehlo.constant dense<1.600000e+02> : tensor<f32>
    %14 = stablehlo.divide %cst_4, %cst_5 : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %14, dims = [] : (tensor<f32>) -> tensor<32x5xf32>
    %16 = stablehlo.multiply %15, %11 : tensor<32x5xf32>
    %17 = stablehlo.dot_general %16, %1, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x5xf32>, tensor<32x40xf32>) -> tensor<5x40xf32>
    %18 = stablehlo.transpose %17, dims = [1, 0] : (tensor<5x40xf32>) -> tensor<40x5xf32>
    %19 = stablehlo.dot_general %16, %arg2, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<32x5xf32>, tensor<40x5xf32>) -> tensor<32x40xf32>
    %20 = stablehlo.multiply %19, %6 : tensor<32x40xf32>
    %21 = stablehlo.dot_general %20, %arg0, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x40xf32>, tensor<32x24xf32>) -> tensor<40x24xf32>
    %22 = stablehlo.transpose %21, dims = [1, 0] : (tensor<40x24xf32>) -> tensor<24x40xf32>
    %cst_6 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %23 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<24x40xf32>
    %24 = stablehlo.multiply %23, %22 : tensor<24x40xf32>
    %25 = stablehlo.subtract %arg1, %24 : tensor<24x40xf32>
    %cst_7 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %26 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<40x5xf32>
    %27 = stablehlo.multiply %26, %18 : tensor<40x5xf32>
    %28 = stablehlo.subtract %arg2, %27 : tensor<40x5xf32>
    return %13, %25, %28 : tensor<f32>, tensor<24x40xf32>, tensor<40x5xf32>
  }
}
