module @jit_double_precision attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @empty_mesh = <[]> {stablehlo.mesh = {axes = []}}
  func.func public @main(%arg0: tensor<6x140xf64> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}, %arg1: tensor<140xf64> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}]>}) -> (tensor<6x140xf64> {jax.result_info = "result[0]"}, tensor<6xf64> {jax.result_info = "result[1]"}, tensor<6x140xf32> {jax.result_info = "result[2]"}, tensor<140x6xf64> {jax.result_info = "result[3]"}) {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<140xf64>) -> tensor<1x140xf64>
    %1 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<1x140xf64>) -> tensor<6x140xf64>
    %2 = stablehlo.multiply %arg0, %1 : tensor<6x140xf64>
    %cst = stablehlo.constant dense<1.250000e-01> : tensor<f64>
    %3 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<6x140xf64>
    %4 = stablehlo.add %2, %3 : tensor<6x140xf64>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %5 = stablehlo.reduce(%arg0 init: %cst_0) applies stablehlo.add across dimensions = [1] : (tensor<6x140xf64>, tensor<f64>) -> tensor<6xf64>
    %6 = stablehlo.convert %arg0 : (tensor<6x140xf64>) -> tensor<6x140xf32>
    %7 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<140xf64>) -> tensor<1x140xf64>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1] : (tensor<1x140xf64>) -> tensor<6x140xf64>
    %9 = stablehlo.compare GT, %arg0, %8, FLOAT : (tensor<6x140xf64>, tensor<6x140xf64>) -> tensor<6x140xi1>
    %10 = stablehlo.negate %arg1 : tensor<140xf64>
    %11 = call @_where(%9, %arg0, %10) : (tensor<6x140xi1>, tensor<6x140xf64>, tensor<140xf64>) -> tensor<6x140xf64>
    %12 = stablehlo.transpose %11, dims = [1, 0] : (tensor<6x140xf64>) -> tensor<140x6xf64>
    return %4, %5, %6, %12 : tensor<6x140xf64>, tensor<6xf64>, tensor<6x140xf32>, tensor<140x6xf64>
  }
  func.func private @_where(%arg0: tensor<6x140xi1>, %arg1: tensor<6x140xf64>, %arg2: tensor<140xf64>) -> tensor<6x140xf64> {
    %0 = stablehlo.broadcast_in_dim %arg2, dims = [1] : (tensor<140xf64>) -> tensor<6x140xf64>
    %1 = stablehlo.select %arg0, %arg1, %0 : tensor<6x140xi1>, tensor<6x140xf64>
    return %1 : tensor<6x140xf64>
  }
}
