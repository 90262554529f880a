module @jit_gradient_of_weights_gathered_by_hand attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<8x6xf32>, %arg1: tensor<8x6xf32>) -> (tensor<8x6xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.transpose %arg1, dims = [1, 0] : (tensor<8x6xf32>) -> tensor<6x8xf32>
    %1 = stablehlo.dot_general %arg0, %0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x6xf32>, tensor<6x8xf32>) -> tensor<8x8xf32>
    %2 = stablehlo.tanh %1 : tensor<8x8xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %4 = stablehlo.subtract %3, %2 : tensor<8x8xf32>
    %cst_0 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %6 = stablehlo.multiply %5, %2 : tensor<8x8xf32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %8 = stablehlo.multiply %7, %6 : tensor<8x8xf32>
    %9 = stablehlo.multiply %8, %4 : tensor<8x8xf32>
    %10 = stablehlo.multiply %9, %2 : tensor<8x8xf32>
    %11 = stablehlo.add %9, %10 : tensor<8x8xf32>
    %12 = stablehlo.dot_general %11, %arg0, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x8xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
    %13 = stablehlo.transpose %12, dims = [1, 0] : (tensor<8x6xf32>) -> tensor<6x8xf32>
    %14 = stablehlo.transpose %13, dims = [1, 0] : (tensor<6x8xf32>) -> tensor<8x6xf32>
    return %14 : tensor<8x6xf32>
  }
}
