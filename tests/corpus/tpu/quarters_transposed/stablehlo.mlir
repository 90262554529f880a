module @jit_quarters_transposed attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @empty_mesh = <[]> {stablehlo.mesh = {axes = []}}
  func.func public @main(%arg0: tensor<32x256xui2> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}) -> (tensor<256x16xui2> {jax.result_info = "result"}) {
    %0 = stablehlo.slice %arg0 [0:16, 0:256] : (tensor<32x256xui2>) -> tensor<16x256xui2>
    %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<16x256xui2>) -> tensor<256x16xui2>
    return %1 : tensor<256x16xui2>
  }
}
