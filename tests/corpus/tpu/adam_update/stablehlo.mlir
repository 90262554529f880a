module @jit_adam_update attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @empty_mesh = <[]> {stablehlo.mesh = {axes = []}}
  func.func public @main(%arg0: tensor<20x150xf32> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>, tf.aliasing_output = 0 : i32}, %arg1: tensor<20x150xf32> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>, tf.aliasing_output = 1 : i32}, %arg2: tensor<20x150xf32> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>, tf.aliasing_output = 2 : i32}, %arg3: tensor<20x150xf32> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}, %arg4: tensor<i32> {sdy.sharding = #sdy.sharding<@empty_mesh, []>}) -> (tensor<20x150xf32> {jax.result_info = "result[0]"}, tensor<20x150xf32> {jax.result_info = "result[1]"}, tensor<20x150xf32> {jax.result_info = "result[2]"}, tensor<f32> {jax.result_info = "result[3]"}) {
    %cst = stablehlo.constant dense<0.899999976> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<20x150xf32>
    %1 = stablehlo.multiply %0, %arg1 : tensor<20x150xf32>
    %cst_0 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<20x150xf32>
    %3 = stablehlo.multiply %2, %arg3 : tensor<20x150xf32>
    %4 = stablehlo.add %1, %3 : tensor<20x150xf32>
    %cst_1 = stablehlo.constant dense<9.900000e-01> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<20x150xf32>
    %6 = stablehlo.multiply %5, %arg2 : tensor<20x150xf32>
    %7 = stablehlo.multiply %arg3, %arg3 : tensor<20x150xf32>
    %cst_2 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<20x150xf32>
    %9 = stablehlo.multiply %8, %7 : tensor<20x150xf32>
    %10 = stablehlo.add %6, %9 : tensor<20x150xf32>
    %c = stablehlo.constant dense<1> : tensor<i32>
    %11 = stablehlo.add %arg4, %c : tensor<i32>
    %12 = stablehlo.convert %11 : (tensor<i32>) -> tensor<f32>
    %cst_3 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %13 = stablehlo.power %cst_3, %12 : tensor<f32>
    %cst_4 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %14 = stablehlo.subtract %cst_4, %13 : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %14, dims = [] : (tensor<f32>) -> tensor<20x150xf32>
    %16 = stablehlo.divide %4, %15 : tensor<20x150xf32>
    %cst_5 = stablehlo.constant dense<9.900000e-01> : tensor<f32>
    %17 = stablehlo.power %cst_5, %12 : tensor<f32>
    %cst_6 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %18 = stablehlo.subtract %cst_6, %17 : tensor<f32>
    %19 = stablehlo.broadcast_in_dim %18, dims = [] : (tensor<f32>) -> tensor<20x150xf32>
    %20 = stablehlo.divide %10, %19 : tensor<20x150xf32>
    %21 = stablehlo.sqrt %20 : tensor<20x150xf32>
    %cst_7 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %22 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<20x150xf32>
    %23 = stablehlo.add %21, %22 : tensor<20x150xf32>
    %24 = stablehlo.divide %16, %23 : tensor<20x150xf32>
    %cst_8 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %25 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<20x150xf32>
    %26 = stablehlo.multiply %25, %24 : tensor<20x150xf32>
    %27 = stablehlo.subtract %arg0, %26 : tensor<20x150xf32>
    %28 = stablehlo.multiply %arg3, %arg3 : tensor<20x150xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %29 = stablehlo.reduce(%28 init: %cst_9) applies stablehlo.add across dimensions = [0, 1] : (tensor<20x150xf32>, tensor<f32>) -> tensor<f32>
    %30 = stablehlo.sqrt %29 : tensor<f32>
    return %27, %4, %10, %30 : tensor<20x150xf32>, tensor<20x150xf32>, tensor<20x150xf32>, tensor<f32>
  }
}
