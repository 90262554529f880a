module @jit_convolutions_of_halves_with_activations attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @empty_mesh = <[]> {stablehlo.mesh = {axes = []}}
  func.func public @main(%arg0: tensor<2x8x8x8xf16> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}, {}, {}]>}, %arg1: tensor<3x3x8x16xf16> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}, {}, {}]>}, %arg2: tensor<16xf16> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}]>}) -> (tensor<2x4x4x16xf16> {jax.result_info = "result[0]"}, tensor<2x4x4x16xf16> {jax.result_info = "result[1]"}, tensor<2x4x4x16xf16> {jax.result_info = "result[2]"}, tensor<2x4x4x16xf16> {jax.result_info = "result[3]"}, tensor<2x4x4x16xf16> {jax.result_info = "result[4]"}) {
    %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 2], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x8x8x8xf16>, tensor<3x3x8x16xf16>) -> tensor<2x4x4x16xf16>
    %1 = stablehlo.broadcast_in_dim %arg2, dims = [3] : (tensor<16xf16>) -> tensor<1x1x1x16xf16>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1, 2, 3] : (tensor<1x1x1x16xf16>) -> tensor<2x4x4x16xf16>
    %3 = stablehlo.add %0, %2 : tensor<2x4x4x16xf16>
    %4 = call @relu(%3) : (tensor<2x4x4x16xf16>) -> tensor<2x4x4x16xf16>
    %5 = call @elu(%3) : (tensor<2x4x4x16xf16>) -> tensor<2x4x4x16xf16>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<6> : tensor<i32>
    %6 = call @clip(%3, %c, %c_0) : (tensor<2x4x4x16xf16>, tensor<i32>, tensor<i32>) -> tensor<2x4x4x16xf16>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f16>
    %7 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f16>) -> tensor<2x4x4x16xf16>
    %8 = stablehlo.compare GT, %3, %7, FLOAT : (tensor<2x4x4x16xf16>, tensor<2x4x4x16xf16>) -> tensor<2x4x4x16xi1>
    %cst_1 = stablehlo.constant dense<2.500000e-01> : tensor<f16>
    %9 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f16>) -> tensor<2x4x4x16xf16>
    %10 = stablehlo.multiply %9, %3 : tensor<2x4x4x16xf16>
    %11 = call @_where_0(%8, %3, %10) : (tensor<2x4x4x16xi1>, tensor<2x4x4x16xf16>, tensor<2x4x4x16xf16>) -> tensor<2x4x4x16xf16>
    %cst_2 = stablehlo.constant dense<2.000000e+00> : tensor<f16>
    %12 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f16>) -> tensor<2x4x4x16xf16>
    %13 = stablehlo.multiply %12, %3 : tensor<2x4x4x16xf16>
    return %4, %5, %6, %11, %13 : tensor<2x4x4x16xf16>, tensor<2x4x4x16xf16>, tensor<2x4x4x16xf16>, tensor<2x4x4x16xf16>, tensor<2x4x4x16xf16>
  }
  func.func private @relu(%arg0: tensor<2x4x4x16xf16>) -> tensor<2x4x4x16xf16> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f16>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f16>) -> tensor<2x4x4x16xf16>
    %1 = stablehlo.maximum %arg0, %0 : tensor<2x4x4x16xf16>
    return %1 : tensor<2x4x4x16xf16>
  }
  func.func private @elu(%arg0: tensor<2x4x4x16xf16>) -> tensor<2x4x4x16xf16> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f16>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f16>) -> tensor<2x4x4x16xf16>
    %1 = stablehlo.compare GT, %arg0, %0, FLOAT : (tensor<2x4x4x16xf16>, tensor<2x4x4x16xf16>) -> tensor<2x4x4x16xi1>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f16>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f16>) -> tensor<2x4x4x16xf16>
    %3 = stablehlo.compare GT, %arg0, %2, FLOAT : (tensor<2x4x4x16xf16>, tensor<2x4x4x16xf16>) -> tensor<2x4x4x16xi1>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = call @_where(%3, %cst_1, %arg0) : (tensor<2x4x4x16xi1>, tensor<f32>, tensor<2x4x4x16xf16>) -> tensor<2x4x4x16xf16>
    %5 = stablehlo.exponential_minus_one %4 : tensor<2x4x4x16xf16>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f16>
    %6 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f16>) -> tensor<2x4x4x16xf16>
    %7 = stablehlo.multiply %6, %5 : tensor<2x4x4x16xf16>
    %8 = call @_where_0(%1, %arg0, %7) : (tensor<2x4x4x16xi1>, tensor<2x4x4x16xf16>, tensor<2x4x4x16xf16>) -> tensor<2x4x4x16xf16>
    return %8 : tensor<2x4x4x16xf16>
  }
  func.func private @_where(%arg0: tensor<2x4x4x16xi1>, %arg1: tensor<f32>, %arg2: tensor<2x4x4x16xf16>) -> tensor<2x4x4x16xf16> {
    %0 = stablehlo.convert %arg1 : (tensor<f32>) -> tensor<f16>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f16>) -> tensor<2x4x4x16xf16>
    %2 = stablehlo.select %arg0, %1, %arg2 : tensor<2x4x4x16xi1>, tensor<2x4x4x16xf16>
    return %2 : tensor<2x4x4x16xf16>
  }
  func.func private @_where_0(%arg0: tensor<2x4x4x16xi1>, %arg1: tensor<2x4x4x16xf16>, %arg2: tensor<2x4x4x16xf16>) -> tensor<2x4x4x16xf16> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<2x4x4x16xi1>, tensor<2x4x4x16xf16>
    return %0 : tensor<2x4x4x16xf16>
  }
  func.func private @clip(%arg0: tensor<2x4x4x16xf16>, %arg1: tensor<i32>, %arg2: tensor<i32>) -> tensor<2x4x4x16xf16> {
    %0 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<f16>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f16>) -> tensor<2x4x4x16xf16>
    %2 = stablehlo.maximum %1, %arg0 : tensor<2x4x4x16xf16>
    %3 = stablehlo.convert %arg2 : (tensor<i32>) -> tensor<f16>
    %4 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<f16>) -> tensor<2x4x4x16xf16>
    %5 = stablehlo.minimum %4, %2 : tensor<2x4x4x16xf16>
    return %5 : tensor<2x4x4x16xf16>
  }
}
