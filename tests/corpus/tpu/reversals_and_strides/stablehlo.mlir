module @jit_reversals_and_strides attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @empty_mesh = <[]> {stablehlo.mesh = {axes = []}}
  func.func public @main(%arg0: tensor<4x10x260xf32> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}, {}]>}, %arg1: tensor<260xi32> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}]>}) -> (tensor<4x3x130xf32> {jax.result_info = "result[0]"}, tensor<4x10x260xf32> {jax.result_info = "result[1]"}, tensor<39xi32> {jax.result_info = "result[2]"}, tensor<10x260xf32> {jax.result_info = "result[3]"}) {
    %0 = stablehlo.slice %arg0 [0:4, 1:10:3, 1:260:2] : (tensor<4x10x260xf32>) -> tensor<4x3x130xf32>
    %1 = stablehlo.reverse %0, dims = [0, 2] : tensor<4x3x130xf32>
    %2 = stablehlo.reverse %arg0, dims = [1, 2] : tensor<4x10x260xf32>
    %3 = stablehlo.reverse %arg1, dims = [0] : tensor<260xi32>
    %4 = stablehlo.slice %3 [7:200:5] : (tensor<260xi32>) -> tensor<39xi32>
    %5 = call @_flip(%arg0) : (tensor<4x10x260xf32>) -> tensor<4x10x260xf32>
    %6 = stablehlo.slice %5 [0:1, 0:10, 0:260] : (tensor<4x10x260xf32>) -> tensor<1x10x260xf32>
    %7 = stablehlo.reshape %6 : (tensor<1x10x260xf32>) -> tensor<10x260xf32>
    return %1, %2, %4, %7 : tensor<4x3x130xf32>, tensor<4x10x260xf32>, tensor<39xi32>, tensor<10x260xf32>
  }
  func.func private @_flip(%arg0: tensor<4x10x260xf32>) -> tensor<4x10x260xf32> {
    %0 = stablehlo.reverse %arg0, dims = [2] : tensor<4x10x260xf32>
    return %0 : tensor<4x10x260xf32>
  }
}
