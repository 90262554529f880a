module @jit_contract_several_dims attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @empty_mesh = <[]> {stablehlo.mesh = {axes = []}}
  func.func public @main(%arg0: tensor<5x4x6x7xf32> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}, {}, {}]>}, %arg1: tensor<7x6x4x9xf32> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}, {}, {}]>}, %arg2: tensor<5x9x3xf32> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}, {}]>}) -> (tensor<5x9xf32> {jax.result_info = "result[0]"}, tensor<5x6x5x6xf32> {jax.result_info = "result[1]"}, tensor<4x6x7x9x3xf32> {jax.result_info = "result[2]"}) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1, 2, 3] x [2, 1, 0], precision = [DEFAULT, DEFAULT] : (tensor<5x4x6x7xf32>, tensor<7x6x4x9xf32>) -> tensor<5x9xf32>
    %1 = stablehlo.dot_general %arg0, %arg0, contracting_dims = [1, 3] x [1, 3], precision = [DEFAULT, DEFAULT] : (tensor<5x4x6x7xf32>, tensor<5x4x6x7xf32>) -> tensor<5x6x5x6xf32>
    %2 = stablehlo.dot_general %arg0, %arg2, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<5x4x6x7xf32>, tensor<5x9x3xf32>) -> tensor<4x6x7x9x3xf32>
    return %0, %1, %2 : tensor<5x9xf32>, tensor<5x6x5x6xf32>, tensor<4x6x7x9x3xf32>
  }
}
