module @jit_expert_routing attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @empty_mesh = <[]> {stablehlo.mesh = {axes = []}}
  func.func public @main(%arg0: tensor<48x40xbf16> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}, %arg1: tensor<40x6xbf16> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}, %arg2: tensor<6x40x72xbf16> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}, {}]>}, %arg3: tensor<6x72x40xbf16> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}, {}]>}) -> (tensor<48x40xbf16> {jax.result_info = "result[0]"}, tensor<48x6xi32> {jax.result_info = "result[1]"}) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<48x40xbf16>, tensor<40x6xbf16>) -> tensor<48x6xbf16>
    %1 = stablehlo.convert %0 : (tensor<48x6xbf16>) -> tensor<48x6xf32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %2 = stablehlo.reduce(%1 init: %cst) applies stablehlo.maximum across dimensions = [1] : (tensor<48x6xf32>, tensor<f32>) -> tensor<48xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<48xf32>
    %4 = stablehlo.maximum %3, %2 : tensor<48xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<48xf32>) -> tensor<48x1xf32>
    %6 = stablehlo.broadcast_in_dim %5, dims = [0, 1] : (tensor<48x1xf32>) -> tensor<48x6xf32>
    %7 = stablehlo.subtract %1, %6 : tensor<48x6xf32>
    %8 = stablehlo.exponential %7 : tensor<48x6xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %9 = stablehlo.reduce(%8 init: %cst_1) applies stablehlo.add across dimensions = [1] : (tensor<48x6xf32>, tensor<f32>) -> tensor<48xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0] : (tensor<48xf32>) -> tensor<48x1xf32>
    %11 = stablehlo.broadcast_in_dim %10, dims = [0, 1] : (tensor<48x1xf32>) -> tensor<48x6xf32>
    %12 = stablehlo.divide %8, %11 : tensor<48x6xf32>
    %values, %indices = chlo.top_k(%12, k = 2) : tensor<48x6xf32> -> (tensor<48x2xf32>, tensor<48x2xi32>)
    %13 = call @_one_hot(%indices) : (tensor<48x2xi32>) -> tensor<48x2x6xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %14 = stablehlo.reduce(%13 init: %c) applies stablehlo.add across dimensions = [1] : (tensor<48x2x6xi32>, tensor<i32>) -> tensor<48x6xi32>
    %15 = call @cumsum(%14) : (tensor<48x6xi32>) -> tensor<48x6xi32>
    %16 = stablehlo.multiply %15, %14 : tensor<48x6xi32>
    %c_2 = stablehlo.constant dense<1> : tensor<i32>
    %17 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<48x6xi32>
    %18 = stablehlo.subtract %16, %17 : tensor<48x6xi32>
    %19 = call @_one_hot_1(%18) : (tensor<48x6xi32>) -> tensor<48x6x20xbf16>
    %20 = stablehlo.dot_general %arg0, %19, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<48x40xbf16>, tensor<48x6x20xbf16>) -> tensor<40x6x20xbf16>
    %21 = stablehlo.dot_general %20, %arg2, batching_dims = [1] x [0], contracting_dims = [0] x [1], precision = [DEFAULT, DEFAULT] : (tensor<40x6x20xbf16>, tensor<6x40x72xbf16>) -> tensor<6x20x72xbf16>
    %22 = call @silu(%21) : (tensor<6x20x72xbf16>) -> tensor<6x20x72xbf16>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %23 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<48x6xf32>
    %24 = stablehlo.iota dim = 0 : tensor<48xi32>
    %25 = stablehlo.broadcast_in_dim %24, dims = [0] : (tensor<48xi32>) -> tensor<48x1xi32>
    %c_4 = stablehlo.constant dense<0> : tensor<i32>
    %26 = stablehlo.broadcast_in_dim %c_4, dims = [] : (tensor<i32>) -> tensor<48x1xi32>
    %27 = stablehlo.compare LT, %25, %26, SIGNED : (tensor<48x1xi32>, tensor<48x1xi32>) -> tensor<48x1xi1>
    %c_5 = stablehlo.constant dense<48> : tensor<i32>
    %28 = stablehlo.broadcast_in_dim %c_5, dims = [] : (tensor<i32>) -> tensor<48x1xi32>
    %29 = stablehlo.add %25, %28 : tensor<48x1xi32>
    %30 = stablehlo.select %27, %29, %25 : tensor<48x1xi1>, tensor<48x1xi32>
    %c_6 = stablehlo.constant dense<0> : tensor<i32>
    %31 = stablehlo.broadcast_in_dim %c_6, dims = [] : (tensor<i32>) -> tensor<48x2xi32>
    %32 = stablehlo.compare LT, %indices, %31, SIGNED : (tensor<48x2xi32>, tensor<48x2xi32>) -> tensor<48x2xi1>
    %c_7 = stablehlo.constant dense<6> : tensor<i32>
    %33 = stablehlo.broadcast_in_dim %c_7, dims = [] : (tensor<i32>) -> tensor<48x2xi32>
    %34 = stablehlo.add %indices, %33 : tensor<48x2xi32>
    %35 = stablehlo.select %32, %34, %indices : tensor<48x2xi1>, tensor<48x2xi32>
    %36 = stablehlo.broadcast_in_dim %30, dims = [0, 1] : (tensor<48x1xi32>) -> tensor<48x2xi32>
    %37 = stablehlo.broadcast_in_dim %36, dims = [0, 1] : (tensor<48x2xi32>) -> tensor<48x2x1xi32>
    %38 = stablehlo.broadcast_in_dim %35, dims = [0, 1] : (tensor<48x2xi32>) -> tensor<48x2x1xi32>
    %39 = stablehlo.concatenate %37, %38, dim = 2 : (tensor<48x2x1xi32>, tensor<48x2x1xi32>) -> tensor<48x2x2xi32>
    %40 = "stablehlo.scatter"(%23, %39, %values) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 2>, unique_indices = false}> ({
    ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
      stablehlo.return %arg5 : tensor<f32>
    }) : (tensor<48x6xf32>, tensor<48x2x2xi32>, tensor<48x2xf32>) -> tensor<48x6xf32>
    %41 = stablehlo.broadcast_in_dim %40, dims = [0, 1] : (tensor<48x6xf32>) -> tensor<48x6x1xf32>
    %42 = stablehlo.convert %41 : (tensor<48x6x1xf32>) -> tensor<48x6x1xbf16>
    %43 = stablehlo.broadcast_in_dim %42, dims = [0, 1, 2] : (tensor<48x6x1xbf16>) -> tensor<48x6x20xbf16>
    %44 = stablehlo.multiply %19, %43 : tensor<48x6x20xbf16>
    %45 = stablehlo.dot_general %arg3, %22, batching_dims = [0] x [0], contracting_dims = [1] x [2], precision = [DEFAULT, DEFAULT] : (tensor<6x72x40xbf16>, tensor<6x20x72xbf16>) -> tensor<6x40x20xbf16>
    %46 = stablehlo.dot_general %44, %45, contracting_dims = [2, 1] x [2, 0], precision = [DEFAULT, DEFAULT] : (tensor<48x6x20xbf16>, tensor<6x40x20xbf16>) -> tensor<48x40xbf16>
    return %46, %18 : tensor<48x40xbf16>, tensor<48x6xi32>
  }
  func.func private @_one_hot(%arg0: tensor<48x2xi32>) -> tensor<48x2x6xi32> {
    %0 = stablehlo.broadcast_in_dim %arg0, dims = [0, 1] : (tensor<48x2xi32>) -> tensor<48x2x1xi32>
    %1 = stablehlo.iota dim = 2 : tensor<1x1x6xi32>
    %2 = stablehlo.broadcast_in_dim %0, dims = [0, 1, 2] : (tensor<48x2x1xi32>) -> tensor<48x2x6xi32>
    %3 = stablehlo.broadcast_in_dim %1, dims = [0, 1, 2] : (tensor<1x1x6xi32>) -> tensor<48x2x6xi32>
    %4 = stablehlo.compare EQ, %2, %3, SIGNED : (tensor<48x2x6xi32>, tensor<48x2x6xi32>) -> tensor<48x2x6xi1>
    %5 = stablehlo.convert %4 : (tensor<48x2x6xi1>) -> tensor<48x2x6xi32>
    return %5 : tensor<48x2x6xi32>
  }
  func.func private @cumsum(%arg0: tensor<48x6xi32>) -> tensor<48x6xi32> {
    %0 = call @cumsum_0(%arg0) : (tensor<48x6xi32>) -> tensor<48x6xi32>
    return %0 : tensor<48x6xi32>
  }
  func.func private @cumsum_0(%arg0: tensor<48x6xi32>) -> tensor<48x6xi32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<i32>
    %1 = "stablehlo.reduce_window"(%arg0, %0) <{base_dilations = array<i64: 1, 1>, padding = dense<[[47, 0], [0, 0]]> : tensor<2x2xi64>, window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 48, 1>, window_strides = array<i64: 1, 1>}> ({
    ^bb0(%arg1: tensor<i32>, %arg2: tensor<i32>):
      %2 = stablehlo.add %arg1, %arg2 : tensor<i32>
      stablehlo.return %2 : tensor<i32>
    }) : (tensor<48x6xi32>, tensor<i32>) -> tensor<48x6xi32>
    return %1 : tensor<48x6xi32>
  }
  func.func private @_one_hot_1(%arg0: tensor<48x6xi32>) -> tensor<48x6x20xbf16> {
    %0 = stablehlo.broadcast_in_dim %arg0, dims = [0, 1] : (tensor<48x6xi32>) -> tensor<48x6x1xi32>
    %1 = stablehlo.iota dim = 2 : tensor<1x1x20xi32>
    %2 = stablehlo.broadcast_in_dim %0, dims = [0, 1, 2] : (tensor<48x6x1xi32>) -> tensor<48x6x20xi32>
    %3 = stablehlo.broadcast_in_dim %1, dims = [0, 1, 2] : (tensor<1x1x20xi32>) -> tensor<48x6x20xi32>
    %4 = stablehlo.compare EQ, %2, %3, SIGNED : (tensor<48x6x20xi32>, tensor<48x6x20xi32>) -> tensor<48x6x20xi1>
    %5 = stablehlo.convert %4 : (tensor<48x6x20xi1>) -> tensor<48x6x20xbf16>
    return %5 : tensor<48x6x20xbf16>
  }
  func.func private @silu(%arg0: tensor<6x20x72xbf16>) -> tensor<6x20x72xbf16> {
    %0 = stablehlo.negate %arg0 : tensor<6x20x72xbf16>
    %1 = stablehlo.exponential %0 : tensor<6x20x72xbf16>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<bf16>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<bf16>) -> tensor<6x20x72xbf16>
    %3 = stablehlo.add %2, %1 : tensor<6x20x72xbf16>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<bf16>
    %4 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<bf16>) -> tensor<6x20x72xbf16>
    %5 = stablehlo.divide %4, %3 : tensor<6x20x72xbf16>
    %6 = stablehlo.multiply %arg0, %5 : tensor<6x20x72xbf16>
    return %6 : tensor<6x20x72xbf16>
  }
}
