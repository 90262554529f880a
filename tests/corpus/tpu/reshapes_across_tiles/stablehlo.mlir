module @jit_reshapes_across_tiles attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @empty_mesh = <[]> {stablehlo.mesh = {axes = []}}
  func.func public @main(%arg0: tensor<16x384xf32> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}, %arg1: tensor<16x512xbf16> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}, %arg2: tensor<32x512xi8> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}) -> (tensor<3x16x128xf32> {jax.result_info = "result[0]"}, tensor<16x512xbf16> {jax.result_info = "result[1]"}, tensor<8x512xi8> {jax.result_info = "result[2]"}, tensor<48x128xf32> {jax.result_info = "result[3]"}, tensor<128x128xi8> {jax.result_info = "result[4]"}) {
    %0 = stablehlo.reshape %arg0 : (tensor<16x384xf32>) -> tensor<16x3x128xf32>
    %1 = stablehlo.transpose %0, dims = [1, 0, 2] : (tensor<16x3x128xf32>) -> tensor<3x16x128xf32>
    %2 = stablehlo.reshape %arg1 : (tensor<16x512xbf16>) -> tensor<4x4x4x128xbf16>
    %3 = stablehlo.transpose %2, dims = [0, 2, 1, 3] : (tensor<4x4x4x128xbf16>) -> tensor<4x4x4x128xbf16>
    %4 = stablehlo.reshape %3 : (tensor<4x4x4x128xbf16>) -> tensor<16x512xbf16>
    %5 = stablehlo.reshape %arg2 : (tensor<32x512xi8>) -> tensor<8x4x512xi8>
    %6 = stablehlo.slice %5 [0:8, 1:2, 0:512] : (tensor<8x4x512xi8>) -> tensor<8x1x512xi8>
    %7 = stablehlo.reshape %6 : (tensor<8x1x512xi8>) -> tensor<8x512xi8>
    %8 = stablehlo.reshape %arg0 : (tensor<16x384xf32>) -> tensor<48x128xf32>
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<48x128xf32>
    %10 = stablehlo.multiply %8, %9 : tensor<48x128xf32>
    %11 = stablehlo.reshape %arg2 : (tensor<32x512xi8>) -> tensor<128x128xi8>
    %12 = stablehlo.transpose %11, dims = [1, 0] : (tensor<128x128xi8>) -> tensor<128x128xi8>
    return %1, %4, %7, %10, %12 : tensor<3x16x128xf32>, tensor<16x512xbf16>, tensor<8x512xi8>, tensor<48x128xf32>, tensor<128x128xi8>
  }
}
