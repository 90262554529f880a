module @jit_int4_product attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @empty_mesh = <[]> {stablehlo.mesh = {axes = []}}
  func.func public @main(%arg0: tensor<16x512xi4> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}, %arg1: tensor<512x40xi4> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}) -> (tensor<16x40xi32> {jax.result_info = "result"}) {
    %0 = stablehlo.convert %arg0 : (tensor<16x512xi4>) -> tensor<16x512xi8>
    %1 = stablehlo.convert %arg1 : (tensor<512x40xi4>) -> tensor<512x40xi8>
    %2 = stablehlo.dot_general %0, %1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x512xi8>, tensor<512x40xi8>) -> tensor<16x40xi32>
    return %2 : tensor<16x40xi32>
  }
}
