module @jit_double_precision_product attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @empty_mesh = <[]> {stablehlo.mesh = {axes = []}}
  func.func public @main(%arg0: tensor<5x64xf64> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}, %arg1: tensor<64x8xf64> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}) -> (tensor<5x8xf64> {jax.result_info = "result"}) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<5x64xf64>, tensor<64x8xf64>) -> tensor<5x8xf64>
    return %0 : tensor<5x8xf64>
  }
}
