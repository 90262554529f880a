module @jit_eighths_b11 attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @empty_mesh = <[]> {stablehlo.mesh = {axes = []}}
  func.func public @main(%arg0: tensor<33x70xf8E4M3B11FNUZ> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}, %arg1: tensor<33x70xf8E4M3B11FNUZ> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}) -> (tensor<33x70xbf16> {jax.result_info = "result[0]"}, tensor<70x33xf8E4M3B11FNUZ> {jax.result_info = "result[1]"}, tensor<33x70xf8E4M3B11FNUZ> {jax.result_info = "result[2]"}) {
    %0 = stablehlo.convert %arg0 : (tensor<33x70xf8E4M3B11FNUZ>) -> tensor<33x70xbf16>
    %1 = stablehlo.convert %arg1 : (tensor<33x70xf8E4M3B11FNUZ>) -> tensor<33x70xbf16>
    %2 = stablehlo.multiply %0, %1 : tensor<33x70xbf16>
    %3 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<33x70xf8E4M3B11FNUZ>) -> tensor<70x33xf8E4M3B11FNUZ>
    %4 = stablehlo.convert %arg0 : (tensor<33x70xf8E4M3B11FNUZ>) -> tensor<33x70xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<33x70xf32>
    %6 = stablehlo.subtract %4, %5 : tensor<33x70xf32>
    %7 = stablehlo.convert %6 : (tensor<33x70xf32>) -> tensor<33x70xf8E4M3B11FNUZ>
    return %2, %3, %7 : tensor<33x70xbf16>, tensor<70x33xf8E4M3B11FNUZ>, tensor<33x70xf8E4M3B11FNUZ>
  }
}
