module @jit_segments_and_bins attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @empty_mesh = <[]> {stablehlo.mesh = {axes = []}}
  func.func public @main(%arg0: tensor<33x140xf16> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}, %arg1: tensor<20xi32> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}]>}, %arg2: tensor<20x140xf32> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}) -> (tensor<12x140xf32> {jax.result_info = "result[0]"}, tensor<12xi32> {jax.result_info = "result[1]"}, tensor<140xi32> {jax.result_info = "result[2]"}, tensor<20x140xf16> {jax.result_info = "result[3]"}) {
    %0 = stablehlo.slice %arg2 [0:1, 0:140] : (tensor<20x140xf32>) -> tensor<1x140xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x140xf32>) -> tensor<140xf32>
    %2 = call @sort(%1) : (tensor<140xf32>) -> tensor<140xf32>
    %3 = stablehlo.slice %arg2 [1:2, 0:140] : (tensor<20x140xf32>) -> tensor<1x140xf32>
    %4 = stablehlo.reshape %3 : (tensor<1x140xf32>) -> tensor<140xf32>
    %5 = call @searchsorted(%2, %4) : (tensor<140xf32>, tensor<140xf32>) -> tensor<140xi32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<12x140xf32>
    %7 = stablehlo.broadcast_in_dim %arg1, dims = [0] : (tensor<20xi32>) -> tensor<20x1xi32>
    %8 = "stablehlo.scatter"(%6, %7, %arg2) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      %28 = stablehlo.add %arg3, %arg4 : tensor<f32>
      stablehlo.return %28 : tensor<f32>
    }) : (tensor<12x140xf32>, tensor<20x1xi32>, tensor<20x140xf32>) -> tensor<12x140xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %9 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<12xi32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %10 = call @clip(%arg1, %c_0) : (tensor<20xi32>, tensor<i32>) -> tensor<20xi32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %11 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<20xi32>
    %12 = stablehlo.compare LT, %10, %11, SIGNED : (tensor<20xi32>, tensor<20xi32>) -> tensor<20xi1>
    %c_2 = stablehlo.constant dense<12> : tensor<i32>
    %13 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<20xi32>
    %14 = stablehlo.add %10, %13 : tensor<20xi32>
    %15 = stablehlo.select %12, %14, %10 : tensor<20xi1>, tensor<20xi32>
    %16 = stablehlo.broadcast_in_dim %15, dims = [0] : (tensor<20xi32>) -> tensor<20x1xi32>
    %c_3 = stablehlo.constant dense<1> : tensor<i32>
    %17 = stablehlo.broadcast_in_dim %c_3, dims = [] : (tensor<i32>) -> tensor<20xi32>
    %18 = "stablehlo.scatter"(%9, %16, %17) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg3: tensor<i32>, %arg4: tensor<i32>):
      %28 = stablehlo.add %arg3, %arg4 : tensor<i32>
      stablehlo.return %28 : tensor<i32>
    }) : (tensor<12xi32>, tensor<20x1xi32>, tensor<20xi32>) -> tensor<12xi32>
    %19 = stablehlo.iota dim = 0 : tensor<20xi32>
    %c_4 = stablehlo.constant dense<2> : tensor<i32>
    %20 = call @floor_divide_1(%19, %c_4) : (tensor<20xi32>, tensor<i32>) -> tensor<20xi32>
    %c_5 = stablehlo.constant dense<0> : tensor<i32>
    %21 = stablehlo.broadcast_in_dim %c_5, dims = [] : (tensor<i32>) -> tensor<20xi32>
    %22 = stablehlo.compare LT, %20, %21, SIGNED : (tensor<20xi32>, tensor<20xi32>) -> tensor<20xi1>
    %c_6 = stablehlo.constant dense<33> : tensor<i32>
    %23 = stablehlo.broadcast_in_dim %c_6, dims = [] : (tensor<i32>) -> tensor<20xi32>
    %24 = stablehlo.add %20, %23 : tensor<20xi32>
    %25 = stablehlo.select %22, %24, %20 : tensor<20xi1>, tensor<20xi32>
    %26 = stablehlo.broadcast_in_dim %25, dims = [0] : (tensor<20xi32>) -> tensor<20x1xi32>
    %27 = "stablehlo.gather"(%arg0, %26) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 140>}> : (tensor<33x140xf16>, tensor<20x1xi32>) -> tensor<20x140xf16>
    return %8, %18, %5, %27 : tensor<12x140xf32>, tensor<12xi32>, tensor<140xi32>, tensor<20x140xf16>
  }
  func.func private @sort(%arg0: tensor<140xf32>) -> tensor<140xf32> {
    %0 = "stablehlo.sort"(%arg0) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %1 = stablehlo.compare EQ, %arg1, %cst, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %2 = stablehlo.select %1, %cst_0, %arg1 : tensor<i1>, tensor<f32>
      %3 = stablehlo.compare NE, %arg1, %arg1, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_1 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
      %4 = stablehlo.select %3, %cst_1, %2 : tensor<i1>, tensor<f32>
      %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %5 = stablehlo.compare EQ, %arg2, %cst_2, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %6 = stablehlo.select %5, %cst_3, %arg2 : tensor<i1>, tensor<f32>
      %7 = stablehlo.compare NE, %arg2, %arg2, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_4 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
      %8 = stablehlo.select %7, %cst_4, %6 : tensor<i1>, tensor<f32>
      %9 = stablehlo.compare LT, %4, %8, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %9 : tensor<i1>
    }) : (tensor<140xf32>) -> tensor<140xf32>
    return %0 : tensor<140xf32>
  }
  func.func private @searchsorted(%arg0: tensor<140xf32>, %arg1: tensor<140xf32>) -> tensor<140xi32> {
    %0 = call @_searchsorted_scan_impl(%arg0, %arg1) : (tensor<140xf32>, tensor<140xf32>) -> tensor<140xi32>
    return %0 : tensor<140xi32>
  }
  func.func private @_searchsorted_scan_impl(%arg0: tensor<140xf32>, %arg1: tensor<140xf32>) -> tensor<140xi32> {
    %0 = call @_searchsorted_scan_impl_0(%arg0, %arg1) : (tensor<140xf32>, tensor<140xf32>) -> tensor<140xi32>
    return %0 : tensor<140xi32>
  }
  func.func private @_searchsorted_scan_impl_0(%arg0: tensor<140xf32>, %arg1: tensor<140xf32>) -> tensor<140xi32> {
    %c = stablehlo.constant dense<0> : tensor<ui32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<ui32>) -> tensor<140xui32>
    %c_0 = stablehlo.constant dense<140> : tensor<ui32>
    %1 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<ui32>) -> tensor<140xui32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %2:5 = stablehlo.while(%iterArg = %arg0, %iterArg_2 = %arg1, %iterArg_3 = %c_1, %iterArg_4 = %0, %iterArg_5 = %1) : tensor<140xf32>, tensor<140xf32>, tensor<i32>, tensor<140xui32>, tensor<140xui32>
    cond {
      %c_6 = stablehlo.constant dense<8> : tensor<i32>
      %4 = stablehlo.compare LT, %iterArg_3, %c_6, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %4 : tensor<i1>
    } do {
      %4 = stablehlo.subtract %iterArg_5, %iterArg_4 : tensor<140xui32>
      %c_6 = stablehlo.constant dense<2> : tensor<i32>
      %5 = func.call @floor_divide(%4, %c_6) : (tensor<140xui32>, tensor<i32>) -> tensor<140xui32>
      %6 = stablehlo.add %iterArg_4, %5 : tensor<140xui32>
      %7 = stablehlo.broadcast_in_dim %6, dims = [0] : (tensor<140xui32>) -> tensor<140x1xui32>
      %8 = "stablehlo.gather"(%iterArg, %7) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1>}> : (tensor<140xf32>, tensor<140x1xui32>) -> tensor<140x1xf32>
      %9 = stablehlo.reshape %8 : (tensor<140x1xf32>) -> tensor<140xf32>
      %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %10 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<140xf32>
      %11 = stablehlo.compare EQ, %iterArg_2, %10, FLOAT : (tensor<140xf32>, tensor<140xf32>) -> tensor<140xi1>
      %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %12 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<140xf32>
      %13 = stablehlo.select %11, %12, %iterArg_2 : tensor<140xi1>, tensor<140xf32>
      %14 = stablehlo.compare NE, %iterArg_2, %iterArg_2, FLOAT : (tensor<140xf32>, tensor<140xf32>) -> tensor<140xi1>
      %cst_8 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
      %15 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<140xf32>
      %16 = stablehlo.select %14, %15, %13 : tensor<140xi1>, tensor<140xf32>
      %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %17 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<140xf32>
      %18 = stablehlo.compare EQ, %9, %17, FLOAT : (tensor<140xf32>, tensor<140xf32>) -> tensor<140xi1>
      %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %19 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<140xf32>
      %20 = stablehlo.select %18, %19, %9 : tensor<140xi1>, tensor<140xf32>
      %21 = stablehlo.compare NE, %9, %9, FLOAT : (tensor<140xf32>, tensor<140xf32>) -> tensor<140xi1>
      %cst_11 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
      %22 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<140xf32>
      %23 = stablehlo.select %21, %22, %20 : tensor<140xi1>, tensor<140xf32>
      %24 = stablehlo.compare LE, %16, %23, TOTALORDER : (tensor<140xf32>, tensor<140xf32>) -> tensor<140xi1>
      %25 = stablehlo.select %24, %iterArg_4, %6 : tensor<140xi1>, tensor<140xui32>
      %26 = stablehlo.select %24, %6, %iterArg_5 : tensor<140xi1>, tensor<140xui32>
      %c_12 = stablehlo.constant dense<1> : tensor<i32>
      %27 = stablehlo.add %iterArg_3, %c_12 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_2, %27, %25, %26 : tensor<140xf32>, tensor<140xf32>, tensor<i32>, tensor<140xui32>, tensor<140xui32>
    }
    %3 = stablehlo.convert %2#4 : (tensor<140xui32>) -> tensor<140xi32>
    return %3 : tensor<140xi32>
  }
  func.func private @floor_divide(%arg0: tensor<140xui32>, %arg1: tensor<i32>) -> tensor<140xui32> {
    %0 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<ui32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<ui32>) -> tensor<140xui32>
    %2 = stablehlo.divide %arg0, %1 : tensor<140xui32>
    return %2 : tensor<140xui32>
  }
  func.func private @clip(%arg0: tensor<20xi32>, %arg1: tensor<i32>) -> tensor<20xi32> {
    %0 = stablehlo.convert %arg1 : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<i32>) -> tensor<20xi32>
    %2 = stablehlo.maximum %1, %arg0 : tensor<20xi32>
    return %2 : tensor<20xi32>
  }
  func.func private @floor_divide_1(%arg0: tensor<20xi32>, %arg1: tensor<i32>) -> tensor<20xi32> {
    %0 = stablehlo.convert %arg1 : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<i32>) -> tensor<20xi32>
    %2 = stablehlo.divide %arg0, %1 : tensor<20xi32>
    %3 = stablehlo.sign %arg0 : tensor<20xi32>
    %4 = stablehlo.sign %0 : tensor<i32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [] : (tensor<i32>) -> tensor<20xi32>
    %6 = stablehlo.compare NE, %3, %5, SIGNED : (tensor<20xi32>, tensor<20xi32>) -> tensor<20xi1>
    %7 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<i32>) -> tensor<20xi32>
    %8 = stablehlo.remainder %arg0, %7 : tensor<20xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %9 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<20xi32>
    %10 = stablehlo.compare NE, %8, %9, SIGNED : (tensor<20xi32>, tensor<20xi32>) -> tensor<20xi1>
    %11 = stablehlo.and %6, %10 : tensor<20xi1>
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %12 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<20xi32>
    %13 = stablehlo.subtract %2, %12 : tensor<20xi32>
    %14 = call @_where(%11, %13, %2) : (tensor<20xi1>, tensor<20xi32>, tensor<20xi32>) -> tensor<20xi32>
    return %14 : tensor<20xi32>
  }
  func.func private @_where(%arg0: tensor<20xi1>, %arg1: tensor<20xi32>, %arg2: tensor<20xi32>) -> tensor<20xi32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<20xi1>, tensor<20xi32>
    return %0 : tensor<20xi32>
  }
}
