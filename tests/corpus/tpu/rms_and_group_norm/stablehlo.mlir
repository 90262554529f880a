module @jit_rms_and_group_norm attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @empty_mesh = <[]> {stablehlo.mesh = {axes = []}}
  func.func public @main(%arg0: tensor<30x300xf32> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}, %arg1: tensor<300xf32> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}]>}, %arg2: tensor<300xf32> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}]>}) -> (tensor<30x300xf32> {jax.result_info = "result[0]"}, tensor<30x300xf32> {jax.result_info = "result[1]"}) {
    %0 = stablehlo.multiply %arg0, %arg0 : tensor<30x300xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<30x300xf32>, tensor<f32>) -> tensor<30xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0] : (tensor<30xf32>) -> tensor<30x1xf32>
    %cst_0 = stablehlo.constant dense<3.000000e+02> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<30x1xf32>
    %4 = stablehlo.divide %2, %3 : tensor<30x1xf32>
    %cst_1 = stablehlo.constant dense<9.99999997E-7> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<30x1xf32>
    %6 = stablehlo.add %4, %5 : tensor<30x1xf32>
    %7 = stablehlo.rsqrt %6 : tensor<30x1xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1] : (tensor<30x1xf32>) -> tensor<30x300xf32>
    %9 = stablehlo.multiply %arg0, %8 : tensor<30x300xf32>
    %10 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<300xf32>) -> tensor<1x300xf32>
    %11 = stablehlo.broadcast_in_dim %10, dims = [0, 1] : (tensor<1x300xf32>) -> tensor<30x300xf32>
    %12 = stablehlo.multiply %9, %11 : tensor<30x300xf32>
    %13 = stablehlo.reshape %arg0 : (tensor<30x300xf32>) -> tensor<30x12x25xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %14 = stablehlo.reduce(%13 init: %cst_2) applies stablehlo.add across dimensions = [2] : (tensor<30x12x25xf32>, tensor<f32>) -> tensor<30x12xf32>
    %15 = stablehlo.broadcast_in_dim %14, dims = [0, 1] : (tensor<30x12xf32>) -> tensor<30x12x1xf32>
    %cst_3 = stablehlo.constant dense<2.500000e+01> : tensor<f32>
    %16 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<30x12x1xf32>
    %17 = stablehlo.divide %15, %16 : tensor<30x12x1xf32>
    %18 = stablehlo.broadcast_in_dim %17, dims = [0, 1, 2] : (tensor<30x12x1xf32>) -> tensor<30x12x25xf32>
    %19 = stablehlo.subtract %13, %18 : tensor<30x12x25xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %20 = call @_var(%13, %c) : (tensor<30x12x25xf32>, tensor<i32>) -> tensor<30x12x1xf32>
    %cst_4 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %21 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<30x12x1xf32>
    %22 = stablehlo.add %20, %21 : tensor<30x12x1xf32>
    %23 = stablehlo.sqrt %22 : tensor<30x12x1xf32>
    %24 = stablehlo.broadcast_in_dim %23, dims = [0, 1, 2] : (tensor<30x12x1xf32>) -> tensor<30x12x25xf32>
    %25 = stablehlo.divide %19, %24 : tensor<30x12x25xf32>
    %26 = stablehlo.reshape %25 : (tensor<30x12x25xf32>) -> tensor<30x300xf32>
    %27 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<300xf32>) -> tensor<1x300xf32>
    %28 = stablehlo.broadcast_in_dim %27, dims = [0, 1] : (tensor<1x300xf32>) -> tensor<30x300xf32>
    %29 = stablehlo.multiply %26, %28 : tensor<30x300xf32>
    %30 = stablehlo.broadcast_in_dim %arg2, dims = [1] : (tensor<300xf32>) -> tensor<1x300xf32>
    %31 = stablehlo.broadcast_in_dim %30, dims = [0, 1] : (tensor<1x300xf32>) -> tensor<30x300xf32>
    %32 = stablehlo.add %29, %31 : tensor<30x300xf32>
    return %12, %32 : tensor<30x300xf32>, tensor<30x300xf32>
  }
  func.func private @_var(%arg0: tensor<30x12x25xf32>, %arg1: tensor<i32>) -> tensor<30x12x1xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.add across dimensions = [2] : (tensor<30x12x25xf32>, tensor<f32>) -> tensor<30x12xf32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<30x12xf32>) -> tensor<30x12x1xf32>
    %cst_0 = stablehlo.constant dense<2.500000e+01> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<30x12x1xf32>
    %3 = stablehlo.divide %1, %2 : tensor<30x12x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2] : (tensor<30x12x1xf32>) -> tensor<30x12x25xf32>
    %5 = stablehlo.subtract %arg0, %4 : tensor<30x12x25xf32>
    %6 = chlo.square %5 : tensor<30x12x25xf32> -> tensor<30x12x25xf32>
    %7 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<f32>
    %cst_1 = stablehlo.constant dense<2.500000e+01> : tensor<f32>
    %8 = stablehlo.subtract %cst_1, %7 : tensor<f32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %9 = stablehlo.reduce(%6 init: %cst_2) applies stablehlo.add across dimensions = [2] : (tensor<30x12x25xf32>, tensor<f32>) -> tensor<30x12xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1] : (tensor<30x12xf32>) -> tensor<30x12x1xf32>
    %11 = stablehlo.broadcast_in_dim %8, dims = [] : (tensor<f32>) -> tensor<30x12x1xf32>
    %12 = stablehlo.divide %10, %11 : tensor<30x12x1xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %13 = stablehlo.compare GT, %8, %cst_3, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %cst_4 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %14 = call @_where(%13, %12, %cst_4) : (tensor<i1>, tensor<30x12x1xf32>, tensor<f32>) -> tensor<30x12x1xf32>
    return %14 : tensor<30x12x1xf32>
  }
  func.func private @_where(%arg0: tensor<i1>, %arg1: tensor<30x12x1xf32>, %arg2: tensor<f32>) -> tensor<30x12x1xf32> {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<30x12x1xf32>
    %2 = stablehlo.select %arg0, %arg1, %1 : tensor<i1>, tensor<30x12x1xf32>
    return %2 : tensor<30x12x1xf32>
  }
}
