module @jit_householder attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @empty_mesh = <[]> {stablehlo.mesh = {axes = []}}
  func.func public @main(%arg0: tensor<10x4xf32> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}, %arg1: tensor<4xf32> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}]>}) -> (tensor<10x4xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.custom_call @ProductOfElementaryHouseholderReflectors(%arg0, %arg1) {backend_config = ""} : (tensor<10x4xf32>, tensor<4xf32>) -> tensor<10x4xf32>
    return %0 : tensor<10x4xf32>
  }
}
