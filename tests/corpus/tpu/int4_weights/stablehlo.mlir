module @jit_int4_weights attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @empty_mesh = <[]> {stablehlo.mesh = {axes = []}}
  func.func public @main(%arg0: tensor<20x256xbf16> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}, %arg1: tensor<256x140xi4> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}, %arg2: tensor<2x140xf32> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}) -> (tensor<20x140xbf16> {jax.result_info = "result"}) {
    %0 = stablehlo.convert %arg1 : (tensor<256x140xi4>) -> tensor<256x140xbf16>
    %1 = stablehlo.reshape %0 : (tensor<256x140xbf16>) -> tensor<2x128x140xbf16>
    %2 = stablehlo.broadcast_in_dim %arg2, dims = [0, 2] : (tensor<2x140xf32>) -> tensor<2x1x140xf32>
    %3 = stablehlo.convert %2 : (tensor<2x1x140xf32>) -> tensor<2x1x140xbf16>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2] : (tensor<2x1x140xbf16>) -> tensor<2x128x140xbf16>
    %5 = stablehlo.multiply %1, %4 : tensor<2x128x140xbf16>
    %6 = stablehlo.reshape %5 : (tensor<2x128x140xbf16>) -> tensor<256x140xbf16>
    %7 = stablehlo.dot_general %arg0, %6, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<20x256xbf16>, tensor<256x140xbf16>) -> tensor<20x140xbf16>
    return %7 : tensor<20x140xbf16>
  }
}
