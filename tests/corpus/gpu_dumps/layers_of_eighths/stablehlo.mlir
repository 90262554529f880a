module @jit_layers_of_eighths attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @empty_mesh = <[]> {stablehlo.mesh = {axes = []}}
  func.func public @main(%arg0: tensor<2x8x8x16xf8E4M3FN> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}, {}, {}]>}, %arg1: tensor<3x3x16x16xf8E4M3FN> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}, {}, {}]>}, %arg2: tensor<f32> {sdy.sharding = #sdy.sharding<@empty_mesh, []>}, %arg3: tensor<2x8x8x16xf32> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}, {}, {}]>}) -> (tensor<2x8x8x16xf8E4M3FN> {jax.result_info = "result[0][0]"}, tensor<f32> {jax.result_info = "result[0][1]"}, tensor<2x8x8x16xf8E4M3FN> {jax.result_info = "result[1][0]"}, tensor<f32> {jax.result_info = "result[1][1]"}, tensor<2x8x8x16xf8E4M3FN> {jax.result_info = "result[2][0]"}, tensor<f32> {jax.result_info = "result[2][1]"}, tensor<2x8x8x16xf8E4M3FN> {jax.result_info = "result[3][0]"}, tensor<f32> {jax.result_info = "result[3][1]"}) {
    %0 = call @_roll_static(%arg0) : (tensor<2x8x8x16xf8E4M3FN>) -> tensor<2x8x8x16xf8E4M3FN>
    %1 = stablehlo.convert %0 : (tensor<2x8x8x16xf8E4M3FN>) -> tensor<2x8x8x16xf32>
    %2 = stablehlo.convert %arg1 : (tensor<3x3x16x16xf8E4M3FN>) -> tensor<3x3x16x16xf32>
    %3 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<f32>) -> tensor<3x3x16x16xf32>
    %4 = stablehlo.multiply %2, %3 : tensor<3x3x16x16xf32>
    %5 = stablehlo.convolution(%1, %4) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x8x8x16xf32>, tensor<3x3x16x16xf32>) -> tensor<2x8x8x16xf32>
    %6 = stablehlo.add %5, %arg3 : tensor<2x8x8x16xf32>
    %7 = call @relu(%6) : (tensor<2x8x8x16xf32>) -> tensor<2x8x8x16xf32>
    %8 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<f32>) -> tensor<2x8x8x16xf32>
    %9 = stablehlo.multiply %7, %8 : tensor<2x8x8x16xf32>
    %c = stablehlo.constant dense<-448> : tensor<i32>
    %c_0 = stablehlo.constant dense<448> : tensor<i32>
    %10 = call @clip(%9, %c, %c_0) : (tensor<2x8x8x16xf32>, tensor<i32>, tensor<i32>) -> tensor<2x8x8x16xf32>
    %11 = stablehlo.convert %10 : (tensor<2x8x8x16xf32>) -> tensor<2x8x8x16xf8E4M3FN>
    %12 = stablehlo.abs %7 : tensor<2x8x8x16xf32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %13 = stablehlo.reduce(%12 init: %cst) applies stablehlo.maximum across dimensions = [0, 1, 2, 3] : (tensor<2x8x8x16xf32>, tensor<f32>) -> tensor<f32>
    %14 = call @_roll_static_0(%arg0) : (tensor<2x8x8x16xf8E4M3FN>) -> tensor<2x8x8x16xf8E4M3FN>
    %15 = stablehlo.convert %14 : (tensor<2x8x8x16xf8E4M3FN>) -> tensor<2x8x8x16xf32>
    %16 = stablehlo.convert %arg1 : (tensor<3x3x16x16xf8E4M3FN>) -> tensor<3x3x16x16xf32>
    %17 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<f32>) -> tensor<3x3x16x16xf32>
    %18 = stablehlo.multiply %16, %17 : tensor<3x3x16x16xf32>
    %19 = stablehlo.convolution(%15, %18) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x8x8x16xf32>, tensor<3x3x16x16xf32>) -> tensor<2x8x8x16xf32>
    %20 = stablehlo.add %19, %arg3 : tensor<2x8x8x16xf32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %c_2 = stablehlo.constant dense<6> : tensor<i32>
    %21 = call @clip(%20, %c_1, %c_2) : (tensor<2x8x8x16xf32>, tensor<i32>, tensor<i32>) -> tensor<2x8x8x16xf32>
    %22 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<f32>) -> tensor<2x8x8x16xf32>
    %23 = stablehlo.multiply %21, %22 : tensor<2x8x8x16xf32>
    %c_3 = stablehlo.constant dense<-448> : tensor<i32>
    %c_4 = stablehlo.constant dense<448> : tensor<i32>
    %24 = call @clip(%23, %c_3, %c_4) : (tensor<2x8x8x16xf32>, tensor<i32>, tensor<i32>) -> tensor<2x8x8x16xf32>
    %25 = stablehlo.convert %24 : (tensor<2x8x8x16xf32>) -> tensor<2x8x8x16xf8E4M3FN>
    %26 = stablehlo.abs %21 : tensor<2x8x8x16xf32>
    %cst_5 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %27 = stablehlo.reduce(%26 init: %cst_5) applies stablehlo.maximum across dimensions = [0, 1, 2, 3] : (tensor<2x8x8x16xf32>, tensor<f32>) -> tensor<f32>
    %28 = call @_roll_static_1(%arg0) : (tensor<2x8x8x16xf8E4M3FN>) -> tensor<2x8x8x16xf8E4M3FN>
    %29 = stablehlo.convert %28 : (tensor<2x8x8x16xf8E4M3FN>) -> tensor<2x8x8x16xf32>
    %30 = stablehlo.convert %arg1 : (tensor<3x3x16x16xf8E4M3FN>) -> tensor<3x3x16x16xf32>
    %31 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<f32>) -> tensor<3x3x16x16xf32>
    %32 = stablehlo.multiply %30, %31 : tensor<3x3x16x16xf32>
    %33 = stablehlo.convolution(%29, %32) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x8x8x16xf32>, tensor<3x3x16x16xf32>) -> tensor<2x8x8x16xf32>
    %34 = stablehlo.add %33, %arg3 : tensor<2x8x8x16xf32>
    %35 = call @elu(%34) : (tensor<2x8x8x16xf32>) -> tensor<2x8x8x16xf32>
    %36 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<f32>) -> tensor<2x8x8x16xf32>
    %37 = stablehlo.multiply %35, %36 : tensor<2x8x8x16xf32>
    %c_6 = stablehlo.constant dense<-448> : tensor<i32>
    %c_7 = stablehlo.constant dense<448> : tensor<i32>
    %38 = call @clip(%37, %c_6, %c_7) : (tensor<2x8x8x16xf32>, tensor<i32>, tensor<i32>) -> tensor<2x8x8x16xf32>
    %39 = stablehlo.convert %38 : (tensor<2x8x8x16xf32>) -> tensor<2x8x8x16xf8E4M3FN>
    %40 = stablehlo.abs %35 : tensor<2x8x8x16xf32>
    %cst_8 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %41 = stablehlo.reduce(%40 init: %cst_8) applies stablehlo.maximum across dimensions = [0, 1, 2, 3] : (tensor<2x8x8x16xf32>, tensor<f32>) -> tensor<f32>
    %42 = call @_roll_static_3(%arg0) : (tensor<2x8x8x16xf8E4M3FN>) -> tensor<2x8x8x16xf8E4M3FN>
    %43 = stablehlo.convert %42 : (tensor<2x8x8x16xf8E4M3FN>) -> tensor<2x8x8x16xf32>
    %44 = stablehlo.convert %arg1 : (tensor<3x3x16x16xf8E4M3FN>) -> tensor<3x3x16x16xf32>
    %45 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<f32>) -> tensor<3x3x16x16xf32>
    %46 = stablehlo.multiply %44, %45 : tensor<3x3x16x16xf32>
    %47 = stablehlo.convolution(%43, %46) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x8x8x16xf32>, tensor<3x3x16x16xf32>) -> tensor<2x8x8x16xf32>
    %48 = stablehlo.add %47, %arg3 : tensor<2x8x8x16xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %49 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<2x8x8x16xf32>
    %50 = stablehlo.compare GT, %48, %49, FLOAT : (tensor<2x8x8x16xf32>, tensor<2x8x8x16xf32>) -> tensor<2x8x8x16xi1>
    %cst_10 = stablehlo.constant dense<1.250000e-01> : tensor<f32>
    %51 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<2x8x8x16xf32>
    %52 = stablehlo.multiply %51, %48 : tensor<2x8x8x16xf32>
    %53 = call @_where_2(%50, %48, %52) : (tensor<2x8x8x16xi1>, tensor<2x8x8x16xf32>, tensor<2x8x8x16xf32>) -> tensor<2x8x8x16xf32>
    %54 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<f32>) -> tensor<2x8x8x16xf32>
    %55 = stablehlo.multiply %53, %54 : tensor<2x8x8x16xf32>
    %c_11 = stablehlo.constant dense<-448> : tensor<i32>
    %c_12 = stablehlo.constant dense<448> : tensor<i32>
    %56 = call @clip(%55, %c_11, %c_12) : (tensor<2x8x8x16xf32>, tensor<i32>, tensor<i32>) -> tensor<2x8x8x16xf32>
    %57 = stablehlo.convert %56 : (tensor<2x8x8x16xf32>) -> tensor<2x8x8x16xf8E4M3FN>
    %58 = stablehlo.abs %53 : tensor<2x8x8x16xf32>
    %cst_13 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %59 = stablehlo.reduce(%58 init: %cst_13) applies stablehlo.maximum across dimensions = [0, 1, 2, 3] : (tensor<2x8x8x16xf32>, tensor<f32>) -> tensor<f32>
    return %11, %13, %25, %27, %39, %41, %57, %59 : tensor<2x8x8x16xf8E4M3FN>, tensor<f32>, tensor<2x8x8x16xf8E4M3FN>, tensor<f32>, tensor<2x8x8x16xf8E4M3FN>, tensor<f32>, tensor<2x8x8x16xf8E4M3FN>, tensor<f32>
  }
  func.func private @_roll_static(%arg0: tensor<2x8x8x16xf8E4M3FN>) -> tensor<2x8x8x16xf8E4M3FN> {
    %0 = stablehlo.slice %arg0 [0:2, 0:8, 0:8, 0:16] : (tensor<2x8x8x16xf8E4M3FN>) -> tensor<2x8x8x16xf8E4M3FN>
    %1 = stablehlo.slice %arg0 [0:2, 0:0, 0:8, 0:16] : (tensor<2x8x8x16xf8E4M3FN>) -> tensor<2x0x8x16xf8E4M3FN>
    %2 = stablehlo.concatenate %0, %1, dim = 1 : (tensor<2x8x8x16xf8E4M3FN>, tensor<2x0x8x16xf8E4M3FN>) -> tensor<2x8x8x16xf8E4M3FN>
    return %2 : tensor<2x8x8x16xf8E4M3FN>
  }
  func.func private @relu(%arg0: tensor<2x8x8x16xf32>) -> tensor<2x8x8x16xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x8x8x16xf32>
    %1 = stablehlo.maximum %arg0, %0 : tensor<2x8x8x16xf32>
    return %1 : tensor<2x8x8x16xf32>
  }
  func.func private @clip(%arg0: tensor<2x8x8x16xf32>, %arg1: tensor<i32>, %arg2: tensor<i32>) -> tensor<2x8x8x16xf32> {
    %0 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<2x8x8x16xf32>
    %2 = stablehlo.maximum %1, %arg0 : tensor<2x8x8x16xf32>
    %3 = stablehlo.convert %arg2 : (tensor<i32>) -> tensor<f32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<f32>) -> tensor<2x8x8x16xf32>
    %5 = stablehlo.minimum %4, %2 : tensor<2x8x8x16xf32>
    return %5 : tensor<2x8x8x16xf32>
  }
  func.func private @_roll_static_0(%arg0: tensor<2x8x8x16xf8E4M3FN>) -> tensor<2x8x8x16xf8E4M3FN> {
    %0 = stablehlo.slice %arg0 [0:2, 7:8, 0:8, 0:16] : (tensor<2x8x8x16xf8E4M3FN>) -> tensor<2x1x8x16xf8E4M3FN>
    %1 = stablehlo.slice %arg0 [0:2, 0:7, 0:8, 0:16] : (tensor<2x8x8x16xf8E4M3FN>) -> tensor<2x7x8x16xf8E4M3FN>
    %2 = stablehlo.concatenate %0, %1, dim = 1 : (tensor<2x1x8x16xf8E4M3FN>, tensor<2x7x8x16xf8E4M3FN>) -> tensor<2x8x8x16xf8E4M3FN>
    return %2 : tensor<2x8x8x16xf8E4M3FN>
  }
  func.func private @_roll_static_1(%arg0: tensor<2x8x8x16xf8E4M3FN>) -> tensor<2x8x8x16xf8E4M3FN> {
    %0 = stablehlo.slice %arg0 [0:2, 6:8, 0:8, 0:16] : (tensor<2x8x8x16xf8E4M3FN>) -> tensor<2x2x8x16xf8E4M3FN>
    %1 = stablehlo.slice %arg0 [0:2, 0:6, 0:8, 0:16] : (tensor<2x8x8x16xf8E4M3FN>) -> tensor<2x6x8x16xf8E4M3FN>
    %2 = stablehlo.concatenate %0, %1, dim = 1 : (tensor<2x2x8x16xf8E4M3FN>, tensor<2x6x8x16xf8E4M3FN>) -> tensor<2x8x8x16xf8E4M3FN>
    return %2 : tensor<2x8x8x16xf8E4M3FN>
  }
  func.func private @elu(%arg0: tensor<2x8x8x16xf32>) -> tensor<2x8x8x16xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x8x8x16xf32>
    %1 = stablehlo.compare GT, %arg0, %0, FLOAT : (tensor<2x8x8x16xf32>, tensor<2x8x8x16xf32>) -> tensor<2x8x8x16xi1>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x8x8x16xf32>
    %3 = stablehlo.compare GT, %arg0, %2, FLOAT : (tensor<2x8x8x16xf32>, tensor<2x8x8x16xf32>) -> tensor<2x8x8x16xi1>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = call @_where(%3, %cst_1, %arg0) : (tensor<2x8x8x16xi1>, tensor<f32>, tensor<2x8x8x16xf32>) -> tensor<2x8x8x16xf32>
    %5 = stablehlo.exponential_minus_one %4 : tensor<2x8x8x16xf32>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<2x8x8x16xf32>
    %7 = stablehlo.multiply %6, %5 : tensor<2x8x8x16xf32>
    %8 = call @_where_2(%1, %arg0, %7) : (tensor<2x8x8x16xi1>, tensor<2x8x8x16xf32>, tensor<2x8x8x16xf32>) -> tensor<2x8x8x16xf32>
    return %8 : tensor<2x8x8x16xf32>
  }
  func.func private @_where(%arg0: tensor<2x8x8x16xi1>, %arg1: tensor<f32>, %arg2: tensor<2x8x8x16xf32>) -> tensor<2x8x8x16xf32> {
    %0 = stablehlo.convert %arg1 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<2x8x8x16xf32>
    %2 = stablehlo.select %arg0, %1, %arg2 : tensor<2x8x8x16xi1>, tensor<2x8x8x16xf32>
    return %2 : tensor<2x8x8x16xf32>
  }
  func.func private @_where_2(%arg0: tensor<2x8x8x16xi1>, %arg1: tensor<2x8x8x16xf32>, %arg2: tensor<2x8x8x16xf32>) -> tensor<2x8x8x16xf32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<2x8x8x16xi1>, tensor<2x8x8x16xf32>
    return %0 : tensor<2x8x8x16xf32>
  }
  func.func private @_roll_static_3(%arg0: tensor<2x8x8x16xf8E4M3FN>) -> tensor<2x8x8x16xf8E4M3FN> {
    %0 = stablehlo.slice %arg0 [0:2, 5:8, 0:8, 0:16] : (tensor<2x8x8x16xf8E4M3FN>) -> tensor<2x3x8x16xf8E4M3FN>
    %1 = stablehlo.slice %arg0 [0:2, 0:5, 0:8, 0:16] : (tensor<2x8x8x16xf8E4M3FN>) -> tensor<2x5x8x16xf8E4M3FN>
    %2 = stablehlo.concatenate %0, %1, dim = 1 : (tensor<2x3x8x16xf8E4M3FN>, tensor<2x5x8x16xf8E4M3FN>) -> tensor<2x8x8x16xf8E4M3FN>
    return %2 : tensor<2x8x8x16xf8E4M3FN>
  }
}
