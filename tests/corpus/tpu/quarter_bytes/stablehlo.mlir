module @jit_quarter_bytes attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @empty_mesh = <[]> {stablehlo.mesh = {axes = []}}
  func.func public @main(%arg0: tensor<16x300xf4E2M1FN> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}) -> (tensor<16x300xbf16> {jax.result_info = "result[0]"}, tensor<300x16xf4E2M1FN> {jax.result_info = "result[1]"}, tensor<16x128xf4E2M1FN> {jax.result_info = "result[2]"}) {
    %0 = stablehlo.convert %arg0 : (tensor<16x300xf4E2M1FN>) -> tensor<16x300xbf16>
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<bf16>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<bf16>) -> tensor<16x300xbf16>
    %2 = stablehlo.multiply %0, %1 : tensor<16x300xbf16>
    %3 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<16x300xf4E2M1FN>) -> tensor<300x16xf4E2M1FN>
    %4 = stablehlo.slice %arg0 [0:16, 5:133] : (tensor<16x300xf4E2M1FN>) -> tensor<16x128xf4E2M1FN>
    return %2, %3, %4 : tensor<16x300xbf16>, tensor<300x16xf4E2M1FN>, tensor<16x128xf4E2M1FN>
  }
}
