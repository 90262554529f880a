module @jit_causal_depthwise_conv1d attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @empty_mesh = <[]> {stablehlo.mesh = {axes = []}}
  func.func public @main(%arg0: tensor<3x200x6xf32> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}, {}]>}, %arg1: tensor<4x1x6xf32> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}, {}]>}) -> (tensor<3x200x6xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [1], pad = [[3, 0]], lhs_dilate = [1], rhs_dilate = [1], reverse = [false]} {batch_group_count = 1 : i64, feature_group_count = 6 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<3x200x6xf32>, tensor<4x1x6xf32>) -> tensor<3x200x6xf32>
    %1 = call @silu(%0) : (tensor<3x200x6xf32>) -> tensor<3x200x6xf32>
    return %1 : tensor<3x200x6xf32>
  }
  func.func private @silu(%arg0: tensor<3x200x6xf32>) -> tensor<3x200x6xf32> {
    %0 = stablehlo.negate %arg0 : tensor<3x200x6xf32>
    %1 = stablehlo.exponential %0 : tensor<3x200x6xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<3x200x6xf32>
    %3 = stablehlo.add %2, %1 : tensor<3x200x6xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<3x200x6xf32>
    %5 = stablehlo.divide %4, %3 : tensor<3x200x6xf32>
    %6 = stablehlo.multiply %arg0, %5 : tensor<3x200x6xf32>
    return %6 : tensor<3x200x6xf32>
  }
}
