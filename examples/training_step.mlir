module @jit_training_step attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<20x33xf32>, %arg1: tensor<33xf32>, %arg2: tensor<33x10xf32>, %arg3: tensor<10xf32>, %arg4: tensor<12x20xf32>, %arg5: tensor<12x10xf32>) -> (tensor<f32> {jax.result_info = "result[0]"}, tensor<20x33xf32> {jax.result_info = "result[1][0]"}, tensor<33xf32> {jax.result_info = "result[1][1]"}, tensor<33x10xf32> {jax.result_info = "result[1][2]"}, tensor<10xf32> {jax.result_info = "result[1][3]"}) {
    %0 = stablehlo.dot_general %arg4, %arg0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<12x20xf32>, tensor<20x33xf32>) -> tensor<12x33xf32>
    %1 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<33xf32>) -> tensor<1x33xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<1x33xf32>) -> tensor<12x33xf32>
    %3 = stablehlo.add %0, %2 : tensor<12x33xf32>
    %4 = call @relu(%3) : (tensor<12x33xf32>) -> tensor<12x33xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<12x33xf32>
    %6 = stablehlo.compare GT, %3, %5, FLOAT : (tensor<12x33xf32>, tensor<12x33xf32>) -> tensor<12x33xi1>
    %7 = stablehlo.dot_general %4, %arg2, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<12x33xf32>, tensor<33x10xf32>) -> tensor<12x10xf32>
    %8 = stablehlo.broadcast_in_dim %arg3, dims = [1] : (tensor<10xf32>) -> tensor<1x10xf32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1] : (tensor<1x10xf32>) -> tensor<12x10xf32>
    %10 = stablehlo.add %7, %9 : tensor<12x10xf32>
    %11 = stablehlo.subtract %10, %arg5 : tensor<12x10xf32>
    %12 = stablehlo.abs %11 : tensor<12x10xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<12x10xf32>
    %14 = stablehlo.compare GE, %11, %13, FLOAT : (tensor<12x10xf32>, tensor<12x10xf32>) -> tensor<12x10xi1>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %15 = stablehlo.reduce(%12 init: %cst_1) applies stablehlo.add across dimensions = [0, 1] : (tensor<12x10xf32>, tensor<f32>) -> tensor<f32>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %16 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<12x10xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %17 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<12x10xf32>
    %18 = stablehlo.select %14, %17, %16 : tensor<12x10xi1>, tensor<12x10xf32>
    %19 = stablehlo.select %14, %16, %17 : tensor<12x10xi1>, tensor<12x10xf32>
    %20 = stablehlo.negate %18 : tensor<12x10xf32>
    %21 = stablehlo.add %19, %20 : tensor<12x10xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %22 = stablehlo.reduce(%21 init: %cst_4) applies stablehlo.add across dimensions = [0] : (tensor<12x10xf32>, tensor<f32>) -> tensor<10xf32>
    %23 = stablehlo.reshape %22 : (tensor<10xf32>) -> tensor<1x10xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %24 = stablehlo.reduce(%23 init: %cst_5) applies stablehlo.add across dimensions = [0] : (tensor<1x10xf32>, tensor<f32>) -> tensor<10xf32>
    %25 = stablehlo.dot_general %21, %4, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<12x10xf32>, tensor<12x33xf32>) -> tensor<10x33xf32>
    %26 = stablehlo.transpose %25, dims = [1, 0] : (tensor<10x33xf32>) -> tensor<33x10xf32>
    %27 = stablehlo.dot_general %21, %arg2, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<12x10xf32>, tensor<33x10xf32>) -> tensor<12x33xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %28 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<12x33xf32>
    %29 = stablehlo.select %6, %27, %28 : tensor<12x33xi1>, tensor<12x33xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %30 = stablehlo.reduce(%29 init: %cst_7) applies stablehlo.add across dimensions = [0] : (tensor<12x33xf32>, tensor<f32>) -> tensor<33xf32>
    %31 = stablehlo.reshape %30 : (tensor<33xf32>) -> tensor<1x33xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %32 = stablehlo.reduce(%31 init: %cst_8) applies stablehlo.add across dimensions = [0] : (tensor<1x33xf32>, tensor<f32>) -> tensor<33xf32>
    %33 = stablehlo.dot_general %29, %arg4, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<12x33xf32>, tensor<12x20xf32>) -> tensor<33x20xf32>
    %34 = stablehlo.transpose %33, dims = [1, 0] : (tensor<33x20xf32>) -> tensor<20x33xf32>
    %cst_9 = stablehlo.constant dense<3.125000e-02> : tensor<f32>
    %35 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<20x33xf32>
    %36 = stablehlo.multiply %35, %34 : tensor<20x33xf32>
    %37 = stablehlo.subtract %arg0, %36 : tensor<20x33xf32>
    %cst_10 = stablehlo.constant dense<3.125000e-02> : tensor<f32>
    %38 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<33xf32>
    %39 = stablehlo.multiply %38, %32 : tensor<33xf32>
    %40 = stablehlo.subtract %arg1, %39 : tensor<33xf32>
    %cst_11 = stablehlo.constant dense<3.125000e-02> : tensor<f32>
    %41 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<33x10xf32>
    %42 = stablehlo.multiply %41, %26 : tensor<33x10xf32>
    %43 = stablehlo.subtract %arg2, %42 : tensor<33x10xf32>
    %cst_12 = stablehlo.constant dense<3.125000e-02> : tensor<f32>
    %44 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %45 = stablehlo.multiply %44, %24 : tensor<10xf32>
    %46 = stablehlo.subtract %arg3, %45 : tensor<10xf32>
    return %15, %37, %40, %43, %46 : tensor<f32>, tensor<20x33xf32>, tensor<33xf32>, tensor<33x10xf32>, tensor<10xf32>
  }
  func.func private @relu(%arg0: tensor<12x33xf32>) -> tensor<12x33xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<12x33xf32>
    %1 = stablehlo.maximum %arg0, %0 : tensor<12x33xf32>
    return %1 : tensor<12x33xf32>
  }
}
