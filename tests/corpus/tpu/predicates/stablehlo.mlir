module @jit_predicates attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @empty_mesh = <[]> {stablehlo.mesh = {axes = []}}
  func.func public @main(%arg0: tensor<30x257xi1> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}, %arg1: tensor<257xi1> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}]>}) -> (tensor<30x257xi1> {jax.result_info = "result[0]"}, tensor<257x30xi1> {jax.result_info = "result[1]"}, tensor<257xi32> {jax.result_info = "result[2]"}, tensor<30x257xi8> {jax.result_info = "result[3]"}, tensor<25x129xi1> {jax.result_info = "result[4]"}) {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<257xi1>) -> tensor<1x257xi1>
    %1 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<1x257xi1>) -> tensor<30x257xi1>
    %2 = stablehlo.and %arg0, %1 : tensor<30x257xi1>
    %3 = stablehlo.not %arg0 : tensor<30x257xi1>
    %4 = stablehlo.transpose %3, dims = [1, 0] : (tensor<30x257xi1>) -> tensor<257x30xi1>
    %5 = stablehlo.convert %arg0 : (tensor<30x257xi1>) -> tensor<30x257xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.reduce(%5 init: %c) applies stablehlo.add across dimensions = [0] : (tensor<30x257xi32>, tensor<i32>) -> tensor<257xi32>
    %7 = stablehlo.convert %arg0 : (tensor<30x257xi1>) -> tensor<30x257xi8>
    %c_0 = stablehlo.constant dense<1> : tensor<i8>
    %8 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i8>) -> tensor<30x257xi8>
    %9 = stablehlo.subtract %7, %8 : tensor<30x257xi8>
    %10 = stablehlo.not %arg1 : tensor<257xi1>
    %11 = call @_where(%arg0, %arg1, %10) : (tensor<30x257xi1>, tensor<257xi1>, tensor<257xi1>) -> tensor<30x257xi1>
    %12 = stablehlo.slice %11 [5:30, 0:257:2] : (tensor<30x257xi1>) -> tensor<25x129xi1>
    return %2, %4, %6, %9, %12 : tensor<30x257xi1>, tensor<257x30xi1>, tensor<257xi32>, tensor<30x257xi8>, tensor<25x129xi1>
  }
  func.func private @_where(%arg0: tensor<30x257xi1>, %arg1: tensor<257xi1>, %arg2: tensor<257xi1>) -> tensor<30x257xi1> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<257xi1>) -> tensor<30x257xi1>
    %1 = stablehlo.broadcast_in_dim %arg2, dims = [1] : (tensor<257xi1>) -> tensor<30x257xi1>
    %2 = stablehlo.select %arg0, %0, %1 : tensor<30x257xi1>, tensor<30x257xi1>
    return %2 : tensor<30x257xi1>
  }
}
