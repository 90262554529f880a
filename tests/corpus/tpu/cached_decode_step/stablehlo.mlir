module @jit_cached_decode_step attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @empty_mesh = <[]> {stablehlo.mesh = {axes = []}}
  func.func public @main(%arg0: tensor<1x4x16xbf16> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}, {}]>}, %arg1: tensor<200x4x16xbf16> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}, {}]>, tf.aliasing_output = 1 : i32}, %arg2: tensor<200x4x16xbf16> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}, {}]>, tf.aliasing_output = 2 : i32}, %arg3: tensor<i32> {sdy.sharding = #sdy.sharding<@empty_mesh, []>}) -> (tensor<1x4x16xbf16> {jax.result_info = "result[0]"}, tensor<200x4x16xbf16> {jax.result_info = "result[1]"}, tensor<200x4x16xbf16> {jax.result_info = "result[2]"}) {
    %cst = stablehlo.constant dense<5.000000e-01> : tensor<bf16>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<bf16>) -> tensor<1x4x16xbf16>
    %1 = stablehlo.multiply %arg0, %0 : tensor<1x4x16xbf16>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %2 = stablehlo.compare LT, %arg3, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_0 = stablehlo.constant dense<200> : tensor<i32>
    %3 = stablehlo.add %arg3, %c_0 : tensor<i32>
    %4 = stablehlo.select %2, %3, %arg3 : tensor<i1>, tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %5 = stablehlo.dynamic_update_slice %arg1, %1, %4, %c_1, %c_2 : (tensor<200x4x16xbf16>, tensor<1x4x16xbf16>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<200x4x16xbf16>
    %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<bf16>
    %6 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<bf16>) -> tensor<1x4x16xbf16>
    %7 = stablehlo.add %arg0, %6 : tensor<1x4x16xbf16>
    %c_4 = stablehlo.constant dense<0> : tensor<i32>
    %8 = stablehlo.compare LT, %arg3, %c_4, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_5 = stablehlo.constant dense<200> : tensor<i32>
    %9 = stablehlo.add %arg3, %c_5 : tensor<i32>
    %10 = stablehlo.select %8, %9, %arg3 : tensor<i1>, tensor<i32>
    %c_6 = stablehlo.constant dense<0> : tensor<i32>
    %c_7 = stablehlo.constant dense<0> : tensor<i32>
    %11 = stablehlo.dynamic_update_slice %arg2, %7, %10, %c_6, %c_7 : (tensor<200x4x16xbf16>, tensor<1x4x16xbf16>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<200x4x16xbf16>
    %12 = stablehlo.dot_general %arg0, %5, batching_dims = [1] x [1], contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<1x4x16xbf16>, tensor<200x4x16xbf16>) -> tensor<4x1x200xf32>
    %13 = stablehlo.iota dim = 0 : tensor<200xi32>
    %14 = stablehlo.broadcast_in_dim %arg3, dims = [] : (tensor<i32>) -> tensor<200xi32>
    %15 = stablehlo.compare LE, %13, %14, SIGNED : (tensor<200xi32>, tensor<200xi32>) -> tensor<200xi1>
    %cst_8 = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
    %16 = call @_where(%15, %12, %cst_8) : (tensor<200xi1>, tensor<4x1x200xf32>, tensor<f32>) -> tensor<4x1x200xf32>
    %cst_9 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %17 = stablehlo.reduce(%16 init: %cst_9) applies stablehlo.maximum across dimensions = [2] : (tensor<4x1x200xf32>, tensor<f32>) -> tensor<4x1xf32>
    %cst_10 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %18 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<4x1xf32>
    %19 = stablehlo.maximum %18, %17 : tensor<4x1xf32>
    %20 = stablehlo.broadcast_in_dim %19, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x1x1xf32>
    %21 = stablehlo.broadcast_in_dim %20, dims = [0, 1, 2] : (tensor<4x1x1xf32>) -> tensor<4x1x200xf32>
    %22 = stablehlo.subtract %16, %21 : tensor<4x1x200xf32>
    %23 = stablehlo.exponential %22 : tensor<4x1x200xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %24 = stablehlo.reduce(%23 init: %cst_11) applies stablehlo.add across dimensions = [2] : (tensor<4x1x200xf32>, tensor<f32>) -> tensor<4x1xf32>
    %25 = stablehlo.broadcast_in_dim %24, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x1x1xf32>
    %26 = stablehlo.broadcast_in_dim %25, dims = [0, 1, 2] : (tensor<4x1x1xf32>) -> tensor<4x1x200xf32>
    %27 = stablehlo.divide %23, %26 : tensor<4x1x200xf32>
    %28 = stablehlo.convert %27 : (tensor<4x1x200xf32>) -> tensor<4x1x200xbf16>
    %29 = stablehlo.dot_general %11, %28, batching_dims = [1] x [0], contracting_dims = [0] x [2], precision = [DEFAULT, DEFAULT] : (tensor<200x4x16xbf16>, tensor<4x1x200xbf16>) -> tensor<4x16x1xbf16>
    %30 = stablehlo.transpose %29, dims = [2, 0, 1] : (tensor<4x16x1xbf16>) -> tensor<1x4x16xbf16>
    return %30, %5, %11 : tensor<1x4x16xbf16>, tensor<200x4x16xbf16>, tensor<200x4x16xbf16>
  }
  func.func private @_where(%arg0: tensor<200xi1>, %arg1: tensor<4x1x200xf32>, %arg2: tensor<f32>) -> tensor<4x1x200xf32> {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [2] : (tensor<200xi1>) -> tensor<4x1x200xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<4x1x200xf32>
    %3 = stablehlo.select %1, %arg1, %2 : tensor<4x1x200xi1>, tensor<4x1x200xf32>
    return %3 : tensor<4x1x200xf32>
  }
}
