module @jit_layer_norm_training_step attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @empty_mesh = <[]> {stablehlo.mesh = {axes = []}}
  func.func public @main(%arg0: tensor<16x200xf32> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}, %arg1: tensor<200xf32> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}]>, tf.aliasing_output = 1 : i32}, %arg2: tensor<200xf32> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}]>, tf.aliasing_output = 2 : i32}, %arg3: tensor<200x33xf32> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>, tf.aliasing_output = 3 : i32}, %arg4: tensor<16x33xf32> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}) -> (tensor<f32> {jax.result_info = "result[0]"}, tensor<200xf32> {jax.result_info = "result[1][0]"}, tensor<200xf32> {jax.result_info = "result[1][1]"}, tensor<200x33xf32> {jax.result_info = "result[1][2]"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<16x200xf32>, tensor<f32>) -> tensor<16xf32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<16xf32>) -> tensor<16x1xf32>
    %cst_0 = stablehlo.constant dense<2.000000e+02> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<16x1xf32>
    %3 = stablehlo.divide %1, %2 : tensor<16x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<16x1xf32>) -> tensor<16x200xf32>
    %5 = stablehlo.subtract %arg0, %4 : tensor<16x200xf32>
    %6 = stablehlo.multiply %5, %5 : tensor<16x200xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.reduce(%6 init: %cst_1) applies stablehlo.add across dimensions = [1] : (tensor<16x200xf32>, tensor<f32>) -> tensor<16xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0] : (tensor<16xf32>) -> tensor<16x1xf32>
    %cst_2 = stablehlo.constant dense<2.000000e+02> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<16x1xf32>
    %10 = stablehlo.divide %8, %9 : tensor<16x1xf32>
    %cst_3 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<16x1xf32>
    %12 = stablehlo.add %10, %11 : tensor<16x1xf32>
    %13 = stablehlo.rsqrt %12 : tensor<16x1xf32>
    %14 = stablehlo.broadcast_in_dim %13, dims = [0, 1] : (tensor<16x1xf32>) -> tensor<16x200xf32>
    %15 = stablehlo.multiply %5, %14 : tensor<16x200xf32>
    %16 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<200xf32>) -> tensor<1x200xf32>
    %17 = stablehlo.broadcast_in_dim %16, dims = [0, 1] : (tensor<1x200xf32>) -> tensor<16x200xf32>
    %18 = stablehlo.multiply %15, %17 : tensor<16x200xf32>
    %19 = stablehlo.broadcast_in_dim %arg2, dims = [1] : (tensor<200xf32>) -> tensor<1x200xf32>
    %20 = stablehlo.broadcast_in_dim %19, dims = [0, 1] : (tensor<1x200xf32>) -> tensor<16x200xf32>
    %21 = stablehlo.add %18, %20 : tensor<16x200xf32>
    %22 = stablehlo.dot_general %21, %arg3, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x200xf32>, tensor<200x33xf32>) -> tensor<16x33xf32>
    %23 = stablehlo.subtract %22, %arg4 : tensor<16x33xf32>
    %24 = stablehlo.multiply %23, %23 : tensor<16x33xf32>
    %cst_4 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %25 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<16x33xf32>
    %26 = stablehlo.multiply %25, %23 : tensor<16x33xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %27 = stablehlo.reduce(%24 init: %cst_5) applies stablehlo.add across dimensions = [0, 1] : (tensor<16x33xf32>, tensor<f32>) -> tensor<f32>
    %cst_6 = stablehlo.constant dense<5.280000e+02> : tensor<f32>
    %28 = stablehlo.divide %27, %cst_6 : tensor<f32>
    %cst_7 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_8 = stablehlo.constant dense<5.280000e+02> : tensor<f32>
    %29 = stablehlo.divide %cst_7, %cst_8 : tensor<f32>
    %30 = stablehlo.broadcast_in_dim %29, dims = [] : (tensor<f32>) -> tensor<16x33xf32>
    %31 = stablehlo.multiply %30, %26 : tensor<16x33xf32>
    %32 = stablehlo.dot_general %31, %21, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x33xf32>, tensor<16x200xf32>) -> tensor<33x200xf32>
    %33 = stablehlo.transpose %32, dims = [1, 0] : (tensor<33x200xf32>) -> tensor<200x33xf32>
    %34 = stablehlo.dot_general %31, %arg3, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<16x33xf32>, tensor<200x33xf32>) -> tensor<16x200xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %35 = stablehlo.reduce(%34 init: %cst_9) applies stablehlo.add across dimensions = [0] : (tensor<16x200xf32>, tensor<f32>) -> tensor<200xf32>
    %36 = stablehlo.reshape %35 : (tensor<200xf32>) -> tensor<1x200xf32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %37 = stablehlo.reduce(%36 init: %cst_10) applies stablehlo.add across dimensions = [0] : (tensor<1x200xf32>, tensor<f32>) -> tensor<200xf32>
    %38 = stablehlo.multiply %15, %34 : tensor<16x200xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %39 = stablehlo.reduce(%38 init: %cst_11) applies stablehlo.add across dimensions = [0] : (tensor<16x200xf32>, tensor<f32>) -> tensor<200xf32>
    %40 = stablehlo.reshape %39 : (tensor<200xf32>) -> tensor<1x200xf32>
    %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %41 = stablehlo.reduce(%40 init: %cst_12) applies stablehlo.add across dimensions = [0] : (tensor<1x200xf32>, tensor<f32>) -> tensor<200xf32>
    %cst_13 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %42 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<200xf32>
    %43 = stablehlo.multiply %42, %41 : tensor<200xf32>
    %44 = stablehlo.subtract %arg1, %43 : tensor<200xf32>
    %cst_14 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %45 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<200xf32>
    %46 = stablehlo.multiply %45, %37 : tensor<200xf32>
    %47 = stablehlo.subtract %arg2, %46 : tensor<200xf32>
    %cst_15 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %48 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<200x33xf32>
    %49 = stablehlo.multiply %48, %33 : tensor<200x33xf32>
    %50 = stablehlo.subtract %arg3, %49 : tensor<200x33xf32>
    return %28, %44, %47, %50 : tensor<f32>, tensor<200xf32>, tensor<200xf32>, tensor<200x33xf32>
  }
}
