module @jit_narrow_and_widen attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @empty_mesh = <[]> {stablehlo.mesh = {axes = []}}
  func.func public @main(%arg0: tensor<24x250xf32> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}, %arg1: tensor<24x250xbf16> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}) -> (tensor<24x250xf32> {jax.result_info = "result[0]"}, tensor<24x250xbf16> {jax.result_info = "result[1]"}, tensor<24x250xi8> {jax.result_info = "result[2]"}, tensor<24x250xf16> {jax.result_info = "result[3]"}, tensor<24x250xf32> {jax.result_info = "result[4]"}) {
    %0 = stablehlo.reduce_precision %arg0, format = e8m7 : tensor<24x250xf32>
    %1 = stablehlo.convert %arg0 : (tensor<24x250xf32>) -> tensor<24x250xbf16>
    %2 = stablehlo.add %1, %arg1 : tensor<24x250xbf16>
    %cst = stablehlo.constant dense<4.000000e+01> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<24x250xf32>
    %4 = stablehlo.multiply %arg0, %3 : tensor<24x250xf32>
    %5 = stablehlo.convert %4 : (tensor<24x250xf32>) -> tensor<24x250xi8>
    %6 = stablehlo.convert %arg1 : (tensor<24x250xbf16>) -> tensor<24x250xf16>
    %cst_0 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<24x250xf32>
    %8 = stablehlo.multiply %7, %arg0 : tensor<24x250xf32>
    %9 = chlo.next_after %arg0, %8 : tensor<24x250xf32>, tensor<24x250xf32> -> tensor<24x250xf32>
    return %0, %2, %5, %6, %9 : tensor<24x250xf32>, tensor<24x250xbf16>, tensor<24x250xi8>, tensor<24x250xf16>, tensor<24x250xf32>
  }
}
