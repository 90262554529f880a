module @jit_quantized_linear attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @empty_mesh = <[]> {stablehlo.mesh = {axes = []}}
  func.func public @main(%arg0: tensor<24x320xi8> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}, %arg1: tensor<320x136xi8> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}, %arg2: tensor<136xf32> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}]>}) -> (tensor<24x136xi32> {jax.result_info = "result[0]"}, tensor<24x136xi8> {jax.result_info = "result[1]"}) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<24x320xi8>, tensor<320x136xi8>) -> tensor<24x136xi32>
    %1 = stablehlo.convert %0 : (tensor<24x136xi32>) -> tensor<24x136xf32>
    %2 = stablehlo.broadcast_in_dim %arg2, dims = [1] : (tensor<136xf32>) -> tensor<1x136xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1] : (tensor<1x136xf32>) -> tensor<24x136xf32>
    %4 = stablehlo.multiply %1, %3 : tensor<24x136xf32>
    %cst = stablehlo.constant dense<4.096000e+03> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<24x136xf32>
    %6 = stablehlo.divide %4, %5 : tensor<24x136xf32>
    %7 = call @round(%6) : (tensor<24x136xf32>) -> tensor<24x136xf32>
    %c = stablehlo.constant dense<-128> : tensor<i32>
    %c_0 = stablehlo.constant dense<127> : tensor<i32>
    %8 = call @clip(%7, %c, %c_0) : (tensor<24x136xf32>, tensor<i32>, tensor<i32>) -> tensor<24x136xf32>
    %9 = stablehlo.convert %8 : (tensor<24x136xf32>) -> tensor<24x136xi8>
    return %0, %9 : tensor<24x136xi32>, tensor<24x136xi8>
  }
  func.func private @round(%arg0: tensor<24x136xf32>) -> tensor<24x136xf32> {
    %0 = stablehlo.round_nearest_even %arg0 : tensor<24x136xf32>
    return %0 : tensor<24x136xf32>
  }
  func.func private @clip(%arg0: tensor<24x136xf32>, %arg1: tensor<i32>, %arg2: tensor<i32>) -> tensor<24x136xf32> {
    %0 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<24x136xf32>
    %2 = stablehlo.maximum %1, %arg0 : tensor<24x136xf32>
    %3 = stablehlo.convert %arg2 : (tensor<i32>) -> tensor<f32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<f32>) -> tensor<24x136xf32>
    %5 = stablehlo.minimum %4, %2 : tensor<24x136xf32>
    return %5 : tensor<24x136xf32>
  }
}
