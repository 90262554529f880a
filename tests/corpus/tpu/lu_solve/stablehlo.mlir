module @jit_lu_solve attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @empty_mesh = <[]> {stablehlo.mesh = {axes = []}}
  func.func public @main(%arg0: tensor<20x20xf32> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}, %arg1: tensor<20x3xf32> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}) -> (tensor<20x3xf32> {jax.result_info = "result[0]"}, tensor<f32> {jax.result_info = "result[1]"}) {
    %0 = call @solve(%arg0, %arg1) : (tensor<20x20xf32>, tensor<20x3xf32>) -> tensor<20x3xf32>
    %1 = call @slogdet(%arg0) : (tensor<20x20xf32>) -> tensor<f32>
    return %0, %1 : tensor<20x3xf32>, tensor<f32>
  }
  func.func private @solve(%arg0: tensor<20x20xf32>, %arg1: tensor<20x3xf32>) -> tensor<20x3xf32> {
    %0:3 = stablehlo.custom_call @LuDecomposition(%arg0) {api_version = 2 : i32, backend_config = ""} : (tensor<20x20xf32>) -> (tensor<20x20xf32>, tensor<20xi32>, tensor<20xi32>)
    %1 = stablehlo.transpose %arg1, dims = [1, 0] : (tensor<20x3xf32>) -> tensor<3x20xf32>
    %2 = call @_lu_solve(%0#0, %0#2, %1) : (tensor<20x20xf32>, tensor<20xi32>, tensor<3x20xf32>) -> tensor<3x20xf32>
    %3 = stablehlo.transpose %2, dims = [1, 0] : (tensor<3x20xf32>) -> tensor<20x3xf32>
    return %3 : tensor<20x3xf32>
  }
  func.func private @_lu_solve(%arg0: tensor<20x20xf32>, %arg1: tensor<20xi32>, %arg2: tensor<3x20xf32>) -> tensor<3x20xf32> {
    %0 = stablehlo.broadcast_in_dim %arg2, dims = [0, 1] : (tensor<3x20xf32>) -> tensor<3x20x1xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<20xi32>
    %2 = stablehlo.compare LT, %arg1, %1, SIGNED : (tensor<20xi32>, tensor<20xi32>) -> tensor<20xi1>
    %c_0 = stablehlo.constant dense<20> : tensor<i32>
    %3 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<20xi32>
    %4 = stablehlo.add %arg1, %3 : tensor<20xi32>
    %5 = stablehlo.select %2, %4, %arg1 : tensor<20xi1>, tensor<20xi32>
    %6 = stablehlo.broadcast_in_dim %5, dims = [0] : (tensor<20xi32>) -> tensor<20x1xi32>
    %7 = "stablehlo.gather"(%0, %6) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 2], collapsed_slice_dims = [1], start_index_map = [1], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 3, 1, 1>}> : (tensor<3x20x1xf32>, tensor<20x1xi32>) -> tensor<3x20x1xf32>
    %8 = stablehlo.transpose %7, dims = [1, 2, 0] : (tensor<3x20x1xf32>) -> tensor<20x1x3xf32>
    %9 = stablehlo.reshape %8 : (tensor<20x1x3xf32>) -> tensor<20x3xf32>
    %10 = "stablehlo.triangular_solve"(%arg0, %9) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = true}> : (tensor<20x20xf32>, tensor<20x3xf32>) -> tensor<20x3xf32>
    %11 = stablehlo.reshape %10 : (tensor<20x3xf32>) -> tensor<20x1x3xf32>
    %12 = stablehlo.reshape %11 : (tensor<20x1x3xf32>) -> tensor<20x3xf32>
    %13 = "stablehlo.triangular_solve"(%arg0, %12) <{left_side = true, lower = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<20x20xf32>, tensor<20x3xf32>) -> tensor<20x3xf32>
    %14 = stablehlo.reshape %13 : (tensor<20x3xf32>) -> tensor<20x1x3xf32>
    %15 = stablehlo.transpose %14, dims = [2, 0, 1] : (tensor<20x1x3xf32>) -> tensor<3x20x1xf32>
    %16 = stablehlo.reshape %15 : (tensor<3x20x1xf32>) -> tensor<3x20xf32>
    return %16 : tensor<3x20xf32>
  }
  func.func private @slogdet(%arg0: tensor<20x20xf32>) -> tensor<f32> {
    %0:3 = stablehlo.custom_call @LuDecomposition(%arg0) {api_version = 2 : i32, backend_config = ""} : (tensor<20x20xf32>) -> (tensor<20x20xf32>, tensor<20xi32>, tensor<20xi32>)
    %1 = call @diagonal(%0#0) : (tensor<20x20xf32>) -> tensor<20xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<20xf32>
    %3 = stablehlo.compare EQ, %1, %2, FLOAT : (tensor<20xf32>, tensor<20xf32>) -> tensor<20xi1>
    %c = stablehlo.constant dense<false> : tensor<i1>
    %4 = stablehlo.reduce(%3 init: %c) applies stablehlo.or across dimensions = [0] : (tensor<20xi1>, tensor<i1>) -> tensor<i1>
    %5 = stablehlo.abs %1 : tensor<20xf32>
    %6 = stablehlo.log %5 : tensor<20xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.reduce(%6 init: %cst_0) applies stablehlo.add across dimensions = [0] : (tensor<20xf32>, tensor<f32>) -> tensor<f32>
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %8 = call @_where(%4, %cst_1, %7) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
    return %8 : tensor<f32>
  }
  func.func private @diagonal(%arg0: tensor<20x20xf32>) -> tensor<20xf32> {
    %0 = stablehlo.iota dim = 0 : tensor<20x20xi32>
    %1 = stablehlo.iota dim = 1 : tensor<20x20xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<20x20xi32>
    %3 = stablehlo.add %0, %2 : tensor<20x20xi32>
    %4 = stablehlo.compare EQ, %3, %1, SIGNED : (tensor<20x20xi32>, tensor<20x20xi32>) -> tensor<20x20xi1>
    %5 = stablehlo.convert %4 : (tensor<20x20xi1>) -> tensor<20x20xf32>
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %6 = "stablehlo.case"(%c_0) ({
      %c_1 = stablehlo.constant dense<0> : tensor<i32>
      stablehlo.return %c_1 : tensor<i32>
    }, {
      %c_1 = stablehlo.constant dense<0> : tensor<i32>
      stablehlo.return %c_1 : tensor<i32>
    }) : (tensor<i32>) -> tensor<i32>
    %7 = "stablehlo.case"(%6) ({
      %8 = stablehlo.iota dim = 0 : tensor<20xi32>
      %9 = stablehlo.iota dim = 0 : tensor<20xi32>
      %c_1 = stablehlo.constant dense<0> : tensor<i32>
      %10 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<20xi32>
      %11 = stablehlo.compare LT, %8, %10, SIGNED : (tensor<20xi32>, tensor<20xi32>) -> tensor<20xi1>
      %c_2 = stablehlo.constant dense<20> : tensor<i32>
      %12 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<20xi32>
      %13 = stablehlo.add %8, %12 : tensor<20xi32>
      %14 = stablehlo.select %11, %13, %8 : tensor<20xi1>, tensor<20xi32>
      %c_3 = stablehlo.constant dense<0> : tensor<i32>
      %15 = stablehlo.broadcast_in_dim %c_3, dims = [] : (tensor<i32>) -> tensor<20xi32>
      %16 = stablehlo.compare LT, %9, %15, SIGNED : (tensor<20xi32>, tensor<20xi32>) -> tensor<20xi1>
      %c_4 = stablehlo.constant dense<20> : tensor<i32>
      %17 = stablehlo.broadcast_in_dim %c_4, dims = [] : (tensor<i32>) -> tensor<20xi32>
      %18 = stablehlo.add %9, %17 : tensor<20xi32>
      %19 = stablehlo.select %16, %18, %9 : tensor<20xi1>, tensor<20xi32>
      %20 = stablehlo.broadcast_in_dim %14, dims = [0] : (tensor<20xi32>) -> tensor<20x1xi32>
      %21 = stablehlo.broadcast_in_dim %19, dims = [0] : (tensor<20xi32>) -> tensor<20x1xi32>
      %22 = stablehlo.concatenate %20, %21, dim = 1 : (tensor<20x1xi32>, tensor<20x1xi32>) -> tensor<20x2xi32>
      %23 = "stablehlo.gather"(%arg0, %22) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1>}> : (tensor<20x20xf32>, tensor<20x2xi32>) -> tensor<20xf32>
      stablehlo.return %23 : tensor<20xf32>
    }) : (tensor<i32>) -> tensor<20xf32>
    return %7 : tensor<20xf32>
  }
  func.func private @_where(%arg0: tensor<i1>, %arg1: tensor<f32>, %arg2: tensor<f32>) -> tensor<f32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<i1>, tensor<f32>
    return %0 : tensor<f32>
  }
}
