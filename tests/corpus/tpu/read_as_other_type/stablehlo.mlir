module @jit_read_as_other_type attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @empty_mesh = <[]> {stablehlo.mesh = {axes = []}}
  func.func public @main(%arg0: tensor<16x256xf32> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}, %arg1: tensor<12x128xi32> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}, %arg2: tensor<8x512xui8> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}) -> (tensor<16x256xi32> {jax.result_info = "result[0]"}, tensor<16x512xui16> {jax.result_info = "result[1]"}, tensor<4x12x128xui8> {jax.result_info = "result[2]"}, tensor<8x128xui32> {jax.result_info = "result[3]"}) {
    %0 = stablehlo.bitcast_convert %arg0 : (tensor<16x256xf32>) -> tensor<16x256x2xui16>
    %1 = stablehlo.bitcast_convert %arg0 : (tensor<16x256xf32>) -> tensor<16x256xi32>
    %c = stablehlo.constant dense<32767> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<16x256xi32>
    %3 = stablehlo.and %1, %2 : tensor<16x256xi32>
    %4 = stablehlo.reshape %0 : (tensor<16x256x2xui16>) -> tensor<16x512xui16>
    %5 = stablehlo.bitcast_convert %arg1 : (tensor<12x128xi32>) -> tensor<12x128x4xui8>
    %6 = stablehlo.transpose %5, dims = [2, 0, 1] : (tensor<12x128x4xui8>) -> tensor<4x12x128xui8>
    %7 = stablehlo.reshape %arg2 : (tensor<8x512xui8>) -> tensor<8x128x4xui8>
    %8 = stablehlo.bitcast_convert %7 : (tensor<8x128x4xui8>) -> tensor<8x128xui32>
    return %3, %4, %6, %8 : tensor<16x256xi32>, tensor<16x512xui16>, tensor<4x12x128xui8>, tensor<8x128xui32>
  }
}
