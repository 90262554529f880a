module @gathers {
  func.func public @main() -> (tensor<4x5xf32>, tensor<8x3xf32>, tensor<3xf32>) {
    %in:3 = call @inputs() : () -> (tensor<8x5xf32>, tensor<4xi32>, tensor<3xi32>)
    %want:3 = call @expected() : () -> (tensor<4x5xf32>, tensor<8x3xf32>, tensor<3xf32>)
    %got:3 = call @gathers(%in#0, %in#1, %in#2) : (tensor<8x5xf32>, tensor<4xi32>, tensor<3xi32>) -> (tensor<4x5xf32>, tensor<8x3xf32>, tensor<3xf32>)
    stablehlo.custom_call @check.expect_eq(%got#0, %want#0) {has_side_effect = true} : (tensor<4x5xf32>, tensor<4x5xf32>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#1, %want#1) {has_side_effect = true} : (tensor<8x3xf32>, tensor<8x3xf32>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#2, %want#2) {has_side_effect = true} : (tensor<3xf32>, tensor<3xf32>) -> ()
    return %got#0, %got#1, %got#2 : tensor<4x5xf32>, tensor<8x3xf32>, tensor<3xf32>
  }
  func.func private @inputs() -> (tensor<8x5xf32>, tensor<4xi32>, tensor<3xi32>) {
    %cst = stablehlo.constant dense<[[-3.437500e-01, 5.625000e-01, -1.375000e+00, 1.265625, -7.031250e-01], [-1.828125, 2.968750e-01, -1.250000e-01, 1.875000e-01, 9.375000e-01], [-4.375000e-01, -1.000000e+00, -2.437500e+00, -1.390625, -1.250000e-01], [-2.656250e-01, 2.187500e+00, -5.156250e-01, 3.125000e-02, -6.562500e-01], [5.156250e-01, 1.062500e+00, 5.156250e-01, -2.656250e-01, -1.093750e+00], [6.093750e-01, -3.437500e-01, 7.812500e-02, 3.203125, -1.312500e+00], [1.093750e-01, -3.593750e-01, -9.531250e-01, 8.125000e-01, 3.125000e-01], [4.375000e-01, -1.093750e+00, 1.406250e+00, 2.812500e-01, 3.750000e-01]]> : tensor<8x5xf32>
    %c = stablehlo.constant dense<[0, 4, 6, 6]> : tensor<4xi32>
    %c_0 = stablehlo.constant dense<[4, 4, 0]> : tensor<3xi32>
    return %cst, %c, %c_0 : tensor<8x5xf32>, tensor<4xi32>, tensor<3xi32>
  }
  func.func private @expected() -> (tensor<4x5xf32>, tensor<8x3xf32>, tensor<3xf32>) {
    %cst = stablehlo.constant dense<[[-3.437500e-01, 5.625000e-01, -1.375000e+00, 1.265625, -7.031250e-01], [5.156250e-01, 1.062500e+00, 5.156250e-01, -2.656250e-01, -1.093750e+00], [1.093750e-01, -3.593750e-01, -9.531250e-01, 8.125000e-01, 3.125000e-01], [1.093750e-01, -3.593750e-01, -9.531250e-01, 8.125000e-01, 3.125000e-01]]> : tensor<4x5xf32>
    %cst_0 = stablehlo.constant dense<[[-7.031250e-01, -7.031250e-01, -3.437500e-01], [9.375000e-01, 9.375000e-01, -1.828125], [-1.250000e-01, -1.250000e-01, -4.375000e-01], [-6.562500e-01, -6.562500e-01, -2.656250e-01], [-1.093750e+00, -1.093750e+00, 5.156250e-01], [-1.312500e+00, -1.312500e+00, 6.093750e-01], [3.125000e-01, 3.125000e-01, 1.093750e-01], [3.750000e-01, 3.750000e-01, 4.375000e-01]]> : tensor<8x3xf32>
    %cst_1 = stablehlo.constant dense<[-7.031250e-01, -1.093750e+00, 1.093750e-01]> : tensor<3xf32>
    return %cst, %cst_0, %cst_1 : tensor<4x5xf32>, tensor<8x3xf32>, tensor<3xf32>
  }
  func.func private @gathers(%arg0: tensor<8x5xf32>, %arg1: tensor<4xi32>, %arg2: tensor<3xi32>) -> (tensor<4x5xf32>, tensor<8x3xf32>, tensor<3xf32>) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %1 = stablehlo.compare LT, %arg1, %0, SIGNED : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
    %c_0 = stablehlo.constant dense<8> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %3 = stablehlo.add %arg1, %2 : tensor<4xi32>
    %4 = stablehlo.select %1, %3, %arg1 : tensor<4xi1>, tensor<4xi32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<4xi32>) -> tensor<4x1xi32>
    %6 = "stablehlo.gather"(%arg0, %5) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 5>}> : (tensor<8x5xf32>, tensor<4x1xi32>) -> tensor<4x5xf32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %7 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<3xi32>
    %8 = stablehlo.compare LT, %arg2, %7, SIGNED : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi1>
    %c_2 = stablehlo.constant dense<5> : tensor<i32>
    %9 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<3xi32>
    %10 = stablehlo.add %arg2, %9 : tensor<3xi32>
    %11 = stablehlo.select %8, %10, %arg2 : tensor<3xi1>, tensor<3xi32>
    %12 = stablehlo.broadcast_in_dim %11, dims = [0] : (tensor<3xi32>) -> tensor<3x1xi32>
    %13 = "stablehlo.gather"(%arg0, %12) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [1], start_index_map = [1], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 8, 1>}> : (tensor<8x5xf32>, tensor<3x1xi32>) -> tensor<8x3xf32>
    %14 = stablehlo.slice %arg1 [0:3] : (tensor<4xi32>) -> tensor<3xi32>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %15 = stablehlo.broadcast_in_dim %c_3, dims = [] : (tensor<i32>) -> tensor<3xi32>
    %16 = stablehlo.compare LT, %14, %15, SIGNED : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi1>
    %c_4 = stablehlo.constant dense<8> : tensor<i32>
    %17 = stablehlo.broadcast_in_dim %c_4, dims = [] : (tensor<i32>) -> tensor<3xi32>
    %18 = stablehlo.add %14, %17 : tensor<3xi32>
    %19 = stablehlo.select %16, %18, %14 : tensor<3xi1>, tensor<3xi32>
    %c_5 = stablehlo.constant dense<0> : tensor<i32>
    %20 = stablehlo.broadcast_in_dim %c_5, dims = [] : (tensor<i32>) -> tensor<3xi32>
    %21 = stablehlo.compare LT, %arg2, %20, SIGNED : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi1>
    %c_6 = stablehlo.constant dense<5> : tensor<i32>
    %22 = stablehlo.broadcast_in_dim %c_6, dims = [] : (tensor<i32>) -> tensor<3xi32>
    %23 = stablehlo.add %arg2, %22 : tensor<3xi32>
    %24 = stablehlo.select %21, %23, %arg2 : tensor<3xi1>, tensor<3xi32>
    %25 = stablehlo.broadcast_in_dim %19, dims = [0] : (tensor<3xi32>) -> tensor<3x1xi32>
    %26 = stablehlo.broadcast_in_dim %24, dims = [0] : (tensor<3xi32>) -> tensor<3x1xi32>
    %27 = stablehlo.concatenate %25, %26, dim = 1 : (tensor<3x1xi32>, tensor<3x1xi32>) -> tensor<3x2xi32>
    %28 = "stablehlo.gather"(%arg0, %27) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1>}> : (tensor<8x5xf32>, tensor<3x2xi32>) -> tensor<3xf32>
    return %6, %13, %28 : tensor<4x5xf32>, tensor<8x3xf32>, tensor<3xf32>
  }
}
