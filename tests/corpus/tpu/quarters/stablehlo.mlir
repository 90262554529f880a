module @jit_quarters attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @empty_mesh = <[]> {stablehlo.mesh = {axes = []}}
  func.func public @main(%arg0: tensor<32x256xi2> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}) -> (tensor<32x256xi8> {jax.result_info = "result"}) {
    %0 = stablehlo.convert %arg0 : (tensor<32x256xi2>) -> tensor<32x256xi8>
    %c = stablehlo.constant dense<1> : tensor<i8>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i8>) -> tensor<32x256xi8>
    %2 = stablehlo.add %0, %1 : tensor<32x256xi8>
    return %2 : tensor<32x256xi8>
  }
}
