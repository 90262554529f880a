module @jit_broadcasts attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @empty_mesh = <[]> {stablehlo.mesh = {axes = []}}
  func.func public @main(%arg0: tensor<5x140xf32> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}, %arg1: tensor<140xbf16> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}]>}) -> (tensor<15x140xf32> {jax.result_info = "result[0]"}, tensor<140x9xbf16> {jax.result_info = "result[1]"}, tensor<2x140x4xbf16> {jax.result_info = "result[2]"}, tensor<9x6xf32> {jax.result_info = "result[3][0]"}, tensor<9x6xf32> {jax.result_info = "result[3][1]"}) {
    %0 = stablehlo.broadcast_in_dim %arg0, dims = [0, 2] : (tensor<5x140xf32>) -> tensor<5x1x140xf32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [0, 1, 2] : (tensor<5x1x140xf32>) -> tensor<5x3x140xf32>
    %2 = stablehlo.reshape %1 : (tensor<5x3x140xf32>) -> tensor<15x140xf32>
    %3 = stablehlo.broadcast_in_dim %arg1, dims = [0] : (tensor<140xbf16>) -> tensor<140x1xbf16>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<140x1xbf16>) -> tensor<140x9xbf16>
    %5 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<140xbf16>) -> tensor<2x140x4xbf16>
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<bf16>
    %6 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<bf16>) -> tensor<2x140x4xbf16>
    %7 = stablehlo.multiply %5, %6 : tensor<2x140x4xbf16>
    %8 = stablehlo.slice %arg0 [0:1, 0:6] : (tensor<5x140xf32>) -> tensor<1x6xf32>
    %9 = stablehlo.reshape %8 : (tensor<1x6xf32>) -> tensor<6xf32>
    %10 = stablehlo.slice %arg0 [1:2, 0:9] : (tensor<5x140xf32>) -> tensor<1x9xf32>
    %11 = stablehlo.reshape %10 : (tensor<1x9xf32>) -> tensor<9xf32>
    %12 = stablehlo.broadcast_in_dim %11, dims = [0] : (tensor<9xf32>) -> tensor<9x6xf32>
    %13 = stablehlo.broadcast_in_dim %9, dims = [1] : (tensor<6xf32>) -> tensor<9x6xf32>
    return %2, %4, %7, %13, %12 : tensor<15x140xf32>, tensor<140x9xbf16>, tensor<2x140x4xbf16>, tensor<9x6xf32>, tensor<9x6xf32>
  }
}
