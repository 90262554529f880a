module @one_hot_and_iota {
  func.func public @main() -> (tensor<7x5xf32>, tensor<3x4xi32>, tensor<4x6xf32>) {
    %in = call @inputs() : () -> (tensor<7xi32>)
    %want:3 = call @expected() : () -> (tensor<7x5xf32>, tensor<3x4xi32>, tensor<4x6xf32>)
    %got:3 = call @one_hot_and_iota(%in) : (tensor<7xi32>) -> (tensor<7x5xf32>, tensor<3x4xi32>, tensor<4x6xf32>)
    stablehlo.custom_call @check.expect_eq(%got#0, %want#0) {has_side_effect = true} : (tensor<7x5xf32>, tensor<7x5xf32>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#1, %want#1) {has_side_effect = true} : (tensor<3x4xi32>, tensor<3x4xi32>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#2, %want#2) {has_side_effect = true} : (tensor<4x6xf32>, tensor<4x6xf32>) -> ()
    return %got#0, %got#1, %got#2 : tensor<7x5xf32>, tensor<3x4xi32>, tensor<4x6xf32>
  }
  func.func private @inputs() -> (tensor<7xi32>) {
    %c = stablehlo.constant dense<[1, 0, 3, 0, 3, 2, 1]> : tensor<7xi32>
    return %c : tensor<7xi32>
  }
  func.func private @expected() -> (tensor<7x5xf32>, tensor<3x4xi32>, tensor<4x6xf32>) {
    %cst = stablehlo.constant dense<[[0.000000e+00, 1.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00], [1.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00], [0.000000e+00, 0.000000e+00, 0.000000e+00, 1.000000e+00, 0.000000e+00], [1.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00], [0.000000e+00, 0.000000e+00, 0.000000e+00, 1.000000e+00, 0.000000e+00], [0.000000e+00, 0.000000e+00, 1.000000e+00, 0.000000e+00, 0.000000e+00], [0.000000e+00, 1.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00]]> : tensor<7x5xf32>
    %c = stablehlo.constant dense<[[0, 2, 4, 6], [0, 2, 4, 6], [0, 2, 4, 6]]> : tensor<3x4xi32>
    %cst_0 = stablehlo.constant dense<[[0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00], [1.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00], [1.000000e+00, 1.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00], [1.000000e+00, 1.000000e+00, 1.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00]]> : tensor<4x6xf32>
    return %cst, %c, %cst_0 : tensor<7x5xf32>, tensor<3x4xi32>, tensor<4x6xf32>
  }
  func.func private @one_hot_and_iota(%arg0: tensor<7xi32>) -> (tensor<7x5xf32>, tensor<3x4xi32>, tensor<4x6xf32>) {
    %0 = call @_one_hot(%arg0) : (tensor<7xi32>) -> tensor<7x5xf32>
    %1 = stablehlo.iota dim = 1 : tensor<3x4xi32>
    %c = stablehlo.constant dense<2> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<3x4xi32>
    %3 = stablehlo.multiply %1, %2 : tensor<3x4xi32>
    %4 = stablehlo.iota dim = 0 : tensor<4x6xi32>
    %c_0 = stablehlo.constant dense<-1> : tensor<i32>
    %5 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<4x6xi32>
    %6 = stablehlo.add %4, %5 : tensor<4x6xi32>
    %7 = stablehlo.iota dim = 1 : tensor<4x6xi32>
    %8 = stablehlo.compare GE, %6, %7, SIGNED : (tensor<4x6xi32>, tensor<4x6xi32>) -> tensor<4x6xi1>
    %9 = stablehlo.convert %8 : (tensor<4x6xi1>) -> tensor<4x6xf32>
    return %0, %3, %9 : tensor<7x5xf32>, tensor<3x4xi32>, tensor<4x6xf32>
  }
  func.func private @_one_hot(%arg0: tensor<7xi32>) -> tensor<7x5xf32> {
    %0 = stablehlo.broadcast_in_dim %arg0, dims = [0] : (tensor<7xi32>) -> tensor<7x1xi32>
    %1 = stablehlo.iota dim = 1 : tensor<1x5xi32>
    %2 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<7x1xi32>) -> tensor<7x5xi32>
    %3 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<1x5xi32>) -> tensor<7x5xi32>
    %4 = stablehlo.compare EQ, %2, %3, SIGNED : (tensor<7x5xi32>, tensor<7x5xi32>) -> tensor<7x5xi1>
    %5 = stablehlo.convert %4 : (tensor<7x5xi1>) -> tensor<7x5xf32>
    return %5 : tensor<7x5xf32>
  }
}
