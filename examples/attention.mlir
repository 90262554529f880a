module @jit_attention attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x50x64xbf16>, %arg1: tensor<64x3x4x24xbf16>, %arg2: tensor<4x24x64xbf16>) -> (tensor<2x50x64xbf16> {jax.result_info = "result"}) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x50x64xbf16>, tensor<64x3x4x24xbf16>) -> tensor<2x50x3x4x24xbf16>
    %1 = stablehlo.transpose %0, dims = [2, 0, 1, 3, 4] : (tensor<2x50x3x4x24xbf16>) -> tensor<3x2x50x4x24xbf16>
    %2 = stablehlo.slice %1 [0:1, 0:2, 0:50, 0:4, 0:24] : (tensor<3x2x50x4x24xbf16>) -> tensor<1x2x50x4x24xbf16>
    %3 = stablehlo.reshape %2 : (tensor<1x2x50x4x24xbf16>) -> tensor<2x50x4x24xbf16>
    %4 = stablehlo.slice %1 [1:2, 0:2, 0:50, 0:4, 0:24] : (tensor<3x2x50x4x24xbf16>) -> tensor<1x2x50x4x24xbf16>
    %5 = stablehlo.reshape %4 : (tensor<1x2x50x4x24xbf16>) -> tensor<2x50x4x24xbf16>
    %6 = stablehlo.slice %1 [2:3, 0:2, 0:50, 0:4, 0:24] : (tensor<3x2x50x4x24xbf16>) -> tensor<1x2x50x4x24xbf16>
    %7 = stablehlo.reshape %6 : (tensor<1x2x50x4x24xbf16>) -> tensor<2x50x4x24xbf16>
    %8 = stablehlo.dot_general %3, %5, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x50x4x24xbf16>, tensor<2x50x4x24xbf16>) -> tensor<2x4x50x50xf32>
    %cst = stablehlo.constant dense<0.204124153> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x4x50x50xf32>
    %10 = stablehlo.multiply %8, %9 : tensor<2x4x50x50xf32>
    %11 = stablehlo.iota dim = 0 : tensor<50x50xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %12 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<50x50xi32>
    %13 = stablehlo.add %11, %12 : tensor<50x50xi32>
    %14 = stablehlo.iota dim = 1 : tensor<50x50xi32>
    %15 = stablehlo.compare GE, %13, %14, SIGNED : (tensor<50x50xi32>, tensor<50x50xi32>) -> tensor<50x50xi1>
    %cst_0 = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
    %16 = call @_where(%15, %10, %cst_0) : (tensor<50x50xi1>, tensor<2x4x50x50xf32>, tensor<f32>) -> tensor<2x4x50x50xf32>
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %17 = stablehlo.reduce(%16 init: %cst_1) applies stablehlo.maximum across dimensions = [3] : (tensor<2x4x50x50xf32>, tensor<f32>) -> tensor<2x4x50xf32>
    %cst_2 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %18 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<2x4x50xf32>
    %19 = stablehlo.maximum %18, %17 : tensor<2x4x50xf32>
    %20 = stablehlo.broadcast_in_dim %19, dims = [0, 1, 2] : (tensor<2x4x50xf32>) -> tensor<2x4x50x1xf32>
    %21 = stablehlo.broadcast_in_dim %20, dims = [0, 1, 2, 3] : (tensor<2x4x50x1xf32>) -> tensor<2x4x50x50xf32>
    %22 = stablehlo.subtract %16, %21 : tensor<2x4x50x50xf32>
    %23 = stablehlo.exponential %22 : tensor<2x4x50x50xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %24 = stablehlo.reduce(%23 init: %cst_3) applies stablehlo.add across dimensions = [3] : (tensor<2x4x50x50xf32>, tensor<f32>) -> tensor<2x4x50xf32>
    %25 = stablehlo.broadcast_in_dim %24, dims = [0, 1, 2] : (tensor<2x4x50xf32>) -> tensor<2x4x50x1xf32>
    %26 = stablehlo.broadcast_in_dim %25, dims = [0, 1, 2, 3] : (tensor<2x4x50x1xf32>) -> tensor<2x4x50x50xf32>
    %27 = stablehlo.divide %23, %26 : tensor<2x4x50x50xf32>
    %28 = stablehlo.convert %27 : (tensor<2x4x50x50xf32>) -> tensor<2x4x50x50xbf16>
    %29 = stablehlo.dot_general %7, %28, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x50x4x24xbf16>, tensor<2x4x50x50xbf16>) -> tensor<2x4x24x50xbf16>
    %30 = stablehlo.transpose %29, dims = [0, 3, 1, 2] : (tensor<2x4x24x50xbf16>) -> tensor<2x50x4x24xbf16>
    %31 = stablehlo.dot_general %30, %arg2, contracting_dims = [3, 2] x [1, 0], precision = [DEFAULT, DEFAULT] : (tensor<2x50x4x24xbf16>, tensor<4x24x64xbf16>) -> tensor<2x50x64xbf16>
    %32 = stablehlo.add %arg0, %31 : tensor<2x50x64xbf16>
    return %32 : tensor<2x50x64xbf16>
  }
  func.func private @_where(%arg0: tensor<50x50xi1>, %arg1: tensor<2x4x50x50xf32>, %arg2: tensor<f32>) -> tensor<2x4x50x50xf32> {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [2, 3] : (tensor<50x50xi1>) -> tensor<2x4x50x50xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<2x4x50x50xf32>
    %3 = stablehlo.select %1, %arg1, %2 : tensor<2x4x50x50xi1>, tensor<2x4x50x50xf32>
    return %3 : tensor<2x4x50x50xf32>
  }
}
