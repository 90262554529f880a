module @jit_transposes_of_tiles attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @empty_mesh = <[]> {stablehlo.mesh = {axes = []}}
  func.func public @main(%arg0: tensor<4x12x130xf32> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}, {}]>}, %arg1: tensor<16x3x256xbf16> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}, {}]>}) -> (tensor<12x4x130xf32> {jax.result_info = "result[0]"}, tensor<256x3x16xbf16> {jax.result_info = "result[1]"}, tensor<48x256xbf16> {jax.result_info = "result[2]"}, tensor<4x130x12xf32> {jax.result_info = "result[3]"}) {
    %0 = stablehlo.transpose %arg0, dims = [1, 0, 2] : (tensor<4x12x130xf32>) -> tensor<12x4x130xf32>
    %1 = stablehlo.transpose %arg1, dims = [2, 1, 0] : (tensor<16x3x256xbf16>) -> tensor<256x3x16xbf16>
    %2 = stablehlo.transpose %arg1, dims = [1, 0, 2] : (tensor<16x3x256xbf16>) -> tensor<3x16x256xbf16>
    %3 = stablehlo.reshape %2 : (tensor<3x16x256xbf16>) -> tensor<48x256xbf16>
    %4 = stablehlo.transpose %arg0, dims = [0, 2, 1] : (tensor<4x12x130xf32>) -> tensor<4x130x12xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x130x12xf32>
    %6 = stablehlo.add %4, %5 : tensor<4x130x12xf32>
    return %0, %1, %3, %6 : tensor<12x4x130xf32>, tensor<256x3x16xbf16>, tensor<48x256xbf16>, tensor<4x130x12xf32>
  }
}
