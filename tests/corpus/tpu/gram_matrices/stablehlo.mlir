module @jit_gram_matrices attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @empty_mesh = <[]> {stablehlo.mesh = {axes = []}}
  func.func public @main(%arg0: tensor<20x140xf32> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}, %arg1: tensor<30x140xf32> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}) -> (tensor<20x30xf32> {jax.result_info = "result[0]"}, tensor<140x140xf32> {jax.result_info = "result[1]"}, tensor<140x140xf32> {jax.result_info = "result[2]"}) {
    %0 = stablehlo.multiply %arg0, %arg0 : tensor<20x140xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<20x140xf32>, tensor<f32>) -> tensor<20xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0] : (tensor<20xf32>) -> tensor<20x1xf32>
    %3 = stablehlo.multiply %arg1, %arg1 : tensor<30x140xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.reduce(%3 init: %cst_0) applies stablehlo.add across dimensions = [1] : (tensor<30x140xf32>, tensor<f32>) -> tensor<30xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [1] : (tensor<30xf32>) -> tensor<1x30xf32>
    %6 = stablehlo.broadcast_in_dim %2, dims = [0, 1] : (tensor<20x1xf32>) -> tensor<20x30xf32>
    %7 = stablehlo.broadcast_in_dim %5, dims = [0, 1] : (tensor<1x30xf32>) -> tensor<20x30xf32>
    %8 = stablehlo.add %6, %7 : tensor<20x30xf32>
    %cst_1 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<20x140xf32>
    %10 = stablehlo.multiply %9, %arg0 : tensor<20x140xf32>
    %11 = stablehlo.transpose %arg1, dims = [1, 0] : (tensor<30x140xf32>) -> tensor<140x30xf32>
    %12 = stablehlo.dot_general %10, %11, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<20x140xf32>, tensor<140x30xf32>) -> tensor<20x30xf32>
    %13 = stablehlo.subtract %8, %12 : tensor<20x30xf32>
    %14 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<20x140xf32>) -> tensor<140x20xf32>
    %15 = stablehlo.dot_general %14, %arg0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<140x20xf32>, tensor<20x140xf32>) -> tensor<140x140xf32>
    %16 = stablehlo.slice %arg0 [0:1, 0:140] : (tensor<20x140xf32>) -> tensor<1x140xf32>
    %17 = stablehlo.reshape %16 : (tensor<1x140xf32>) -> tensor<140xf32>
    %18 = stablehlo.slice %arg1 [1:2, 0:140] : (tensor<30x140xf32>) -> tensor<1x140xf32>
    %19 = stablehlo.reshape %18 : (tensor<1x140xf32>) -> tensor<140xf32>
    %20 = stablehlo.broadcast_in_dim %17, dims = [0] : (tensor<140xf32>) -> tensor<140x1xf32>
    %21 = stablehlo.broadcast_in_dim %19, dims = [1] : (tensor<140xf32>) -> tensor<1x140xf32>
    %22 = stablehlo.broadcast_in_dim %20, dims = [0, 1] : (tensor<140x1xf32>) -> tensor<140x140xf32>
    %23 = stablehlo.broadcast_in_dim %21, dims = [0, 1] : (tensor<1x140xf32>) -> tensor<140x140xf32>
    %24 = stablehlo.multiply %22, %23 : tensor<140x140xf32>
    return %13, %15, %24 : tensor<20x30xf32>, tensor<140x140xf32>, tensor<140x140xf32>
  }
}
