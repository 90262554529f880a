module @jit_space_to_depth attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @empty_mesh = <[]> {stablehlo.mesh = {axes = []}}
  func.func public @main(%arg0: tensor<2x16x16x12xbf16> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}, {}, {}]>}, %arg1: tensor<4x6x140xf32> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}, {}]>}) -> (tensor<2x8x8x48xbf16> {jax.result_info = "result[0]"}, tensor<14x10x24xf32> {jax.result_info = "result[1]"}, tensor<6x140xf32> {jax.result_info = "result[2]"}) {
    %0 = stablehlo.reshape %arg0 : (tensor<2x16x16x12xbf16>) -> tensor<2x8x2x8x2x12xbf16>
    %1 = stablehlo.transpose %0, dims = [0, 1, 3, 2, 4, 5] : (tensor<2x8x2x8x2x12xbf16>) -> tensor<2x8x8x2x2x12xbf16>
    %2 = stablehlo.reshape %1 : (tensor<2x8x8x2x2x12xbf16>) -> tensor<2x8x8x48xbf16>
    %3 = stablehlo.reshape %arg1 : (tensor<4x6x140xf32>) -> tensor<24x140xf32>
    %4 = stablehlo.transpose %3, dims = [1, 0] : (tensor<24x140xf32>) -> tensor<140x24xf32>
    %5 = stablehlo.reshape %4 : (tensor<140x24xf32>) -> tensor<14x10x24xf32>
    %6 = stablehlo.slice %arg1 [0:1, 0:6, 0:140] : (tensor<4x6x140xf32>) -> tensor<1x6x140xf32>
    %7 = stablehlo.reshape %6 : (tensor<1x6x140xf32>) -> tensor<6x140xf32>
    return %2, %5, %7 : tensor<2x8x8x48xbf16>, tensor<14x10x24xf32>, tensor<6x140xf32>
  }
}
