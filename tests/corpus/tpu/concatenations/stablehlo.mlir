module @jit_concatenations attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @empty_mesh = <[]> {stablehlo.mesh = {axes = []}}
  func.func public @main(%arg0: tensor<6x200xui8> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}, %arg1: tensor<3x200xui8> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}, %arg2: tensor<6x77xui8> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}) -> (tensor<15x200xui8> {jax.result_info = "result[0]"}, tensor<6x282xui8> {jax.result_info = "result[1]"}, tensor<6x2x200xui8> {jax.result_info = "result[2]"}) {
    %0 = stablehlo.concatenate %arg0, %arg1, %arg0, dim = 0 : (tensor<6x200xui8>, tensor<3x200xui8>, tensor<6x200xui8>) -> tensor<15x200xui8>
    %1 = stablehlo.slice %arg2 [0:6, 0:5] : (tensor<6x77xui8>) -> tensor<6x5xui8>
    %2 = stablehlo.concatenate %arg2, %arg0, %1, dim = 1 : (tensor<6x77xui8>, tensor<6x200xui8>, tensor<6x5xui8>) -> tensor<6x282xui8>
    %3 = stablehlo.reverse %arg0, dims = [0] : tensor<6x200xui8>
    %4 = stablehlo.broadcast_in_dim %arg0, dims = [0, 2] : (tensor<6x200xui8>) -> tensor<6x1x200xui8>
    %5 = stablehlo.broadcast_in_dim %3, dims = [0, 2] : (tensor<6x200xui8>) -> tensor<6x1x200xui8>
    %6 = stablehlo.concatenate %4, %5, dim = 1 : (tensor<6x1x200xui8>, tensor<6x1x200xui8>) -> tensor<6x2x200xui8>
    return %0, %2, %6 : tensor<15x200xui8>, tensor<6x282xui8>, tensor<6x2x200xui8>
  }
}
