module @jit_moments attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @empty_mesh = <[]> {stablehlo.mesh = {axes = []}}
  func.func public @main(%arg0: tensor<2x3x140x5xf32> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}, {}, {}]>}) -> (tensor<3x5xf32> {jax.result_info = "result[0]"}, tensor<2x140xf32> {jax.result_info = "result[1]"}, tensor<2x3x5xf32> {jax.result_info = "result[2]"}, tensor<140xf32> {jax.result_info = "result[3]"}, tensor<f32> {jax.result_info = "result[4]"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.add across dimensions = [0, 2] : (tensor<2x3x140x5xf32>, tensor<f32>) -> tensor<3x5xf32>
    %cst_0 = stablehlo.constant dense<2.800000e+02> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<3x5xf32>
    %2 = stablehlo.divide %0, %1 : tensor<3x5xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %3 = call @_var(%arg0, %c) : (tensor<2x3x140x5xf32>, tensor<i32>) -> tensor<2x140xf32>
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %4 = stablehlo.reduce(%arg0 init: %cst_1) applies stablehlo.maximum across dimensions = [2] : (tensor<2x3x140x5xf32>, tensor<f32>) -> tensor<2x3x5xf32>
    %cst_2 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<2x3x5xf32>
    %6 = stablehlo.maximum %5, %4 : tensor<2x3x5xf32>
    %7 = stablehlo.is_finite %6 : (tensor<2x3x5xf32>) -> tensor<2x3x5xi1>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<2x3x5xf32>
    %9 = stablehlo.select %7, %6, %8 : tensor<2x3x5xi1>, tensor<2x3x5xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1, 3] : (tensor<2x3x5xf32>) -> tensor<2x3x1x5xf32>
    %11 = stablehlo.broadcast_in_dim %10, dims = [0, 1, 2, 3] : (tensor<2x3x1x5xf32>) -> tensor<2x3x140x5xf32>
    %12 = stablehlo.subtract %arg0, %11 : tensor<2x3x140x5xf32>
    %13 = stablehlo.exponential %12 : tensor<2x3x140x5xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %14 = stablehlo.reduce(%13 init: %cst_4) applies stablehlo.add across dimensions = [2] : (tensor<2x3x140x5xf32>, tensor<f32>) -> tensor<2x3x5xf32>
    %15 = stablehlo.abs %14 : tensor<2x3x5xf32>
    %16 = stablehlo.log %15 : tensor<2x3x5xf32>
    %17 = stablehlo.add %16, %9 : tensor<2x3x5xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %18 = stablehlo.reduce(%arg0 init: %cst_5) applies stablehlo.add across dimensions = [0, 1, 3] : (tensor<2x3x140x5xf32>, tensor<f32>) -> tensor<140xf32>
    %19 = stablehlo.multiply %arg0, %arg0 : tensor<2x3x140x5xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %20 = stablehlo.reduce(%19 init: %cst_6) applies stablehlo.add across dimensions = [0, 1, 2, 3] : (tensor<2x3x140x5xf32>, tensor<f32>) -> tensor<f32>
    return %2, %3, %17, %18, %20 : tensor<3x5xf32>, tensor<2x140xf32>, tensor<2x3x5xf32>, tensor<140xf32>, tensor<f32>
  }
  func.func private @_var(%arg0: tensor<2x3x140x5xf32>, %arg1: tensor<i32>) -> tensor<2x140xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.add across dimensions = [1, 3] : (tensor<2x3x140x5xf32>, tensor<f32>) -> tensor<2x140xf32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [0, 2] : (tensor<2x140xf32>) -> tensor<2x1x140x1xf32>
    %cst_0 = stablehlo.constant dense<1.500000e+01> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x1x140x1xf32>
    %3 = stablehlo.divide %1, %2 : tensor<2x1x140x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2, 3] : (tensor<2x1x140x1xf32>) -> tensor<2x3x140x5xf32>
    %5 = stablehlo.subtract %arg0, %4 : tensor<2x3x140x5xf32>
    %6 = chlo.square %5 : tensor<2x3x140x5xf32> -> tensor<2x3x140x5xf32>
    %7 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<f32>
    %cst_1 = stablehlo.constant dense<1.500000e+01> : tensor<f32>
    %8 = stablehlo.subtract %cst_1, %7 : tensor<f32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %9 = stablehlo.reduce(%6 init: %cst_2) applies stablehlo.add across dimensions = [1, 3] : (tensor<2x3x140x5xf32>, tensor<f32>) -> tensor<2x140xf32>
    %10 = stablehlo.broadcast_in_dim %8, dims = [] : (tensor<f32>) -> tensor<2x140xf32>
    %11 = stablehlo.divide %9, %10 : tensor<2x140xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %12 = stablehlo.compare GT, %8, %cst_3, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %cst_4 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %13 = call @_where(%12, %11, %cst_4) : (tensor<i1>, tensor<2x140xf32>, tensor<f32>) -> tensor<2x140xf32>
    return %13 : tensor<2x140xf32>
  }
  func.func private @_where(%arg0: tensor<i1>, %arg1: tensor<2x140xf32>, %arg2: tensor<f32>) -> tensor<2x140xf32> {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<2x140xf32>
    %2 = stablehlo.select %arg0, %arg1, %1 : tensor<i1>, tensor<2x140xf32>
    return %2 : tensor<2x140xf32>
  }
}
