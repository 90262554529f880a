module @collatz_while {
  func.func public @main() -> (tensor<5xi32>, tensor<5xi32>) {
    %in = call @inputs() : () -> (tensor<5xi32>)
    %want:2 = call @expected() : () -> (tensor<5xi32>, tensor<5xi32>)
    %got:2 = call @collatz_while(%in) : (tensor<5xi32>) -> (tensor<5xi32>, tensor<5xi32>)
    stablehlo.custom_call @check.expect_eq(%got#0, %want#0) {has_side_effect = true} : (tensor<5xi32>, tensor<5xi32>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#1, %want#1) {has_side_effect = true} : (tensor<5xi32>, tensor<5xi32>) -> ()
    return %got#0, %got#1 : tensor<5xi32>, tensor<5xi32>
  }
  func.func private @inputs() -> (tensor<5xi32>) {
    %c = stablehlo.constant dense<[53, 59, 6, 58, 59]> : tensor<5xi32>
    return %c : tensor<5xi32>
  }
  func.func private @expected() -> (tensor<5xi32>, tensor<5xi32>) {
    %c = stablehlo.constant dense<1> : tensor<5xi32>
    %c_0 = stablehlo.constant dense<[112, 19, 16, 32, 19]> : tensor<5xi32>
    return %c, %c_0 : tensor<5xi32>, tensor<5xi32>
  }
  func.func private @collatz_while(%arg0: tensor<5xi32>) -> (tensor<5xi32>, tensor<5xi32>) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<5xi32>
    %1 = stablehlo.add %arg0, %0 : tensor<5xi32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<5xi32>
    %3:2 = stablehlo.while(%iterArg = %1, %iterArg_1 = %2) : tensor<5xi32>, tensor<5xi32>
    cond {
      %c_2 = stablehlo.constant dense<1> : tensor<i32>
      %4 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<5xi32>
      %5 = stablehlo.compare GT, %iterArg, %4, SIGNED : (tensor<5xi32>, tensor<5xi32>) -> tensor<5xi1>
      %c_3 = stablehlo.constant dense<false> : tensor<i1>
      %6 = stablehlo.reduce(%5 init: %c_3) applies stablehlo.or across dimensions = [0] : (tensor<5xi1>, tensor<i1>) -> tensor<i1>
      stablehlo.return %6 : tensor<i1>
    } do {
      %c_2 = stablehlo.constant dense<1> : tensor<i32>
      %4 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<5xi32>
      %5 = stablehlo.compare LE, %iterArg, %4, SIGNED : (tensor<5xi32>, tensor<5xi32>) -> tensor<5xi1>
      %c_3 = stablehlo.constant dense<2> : tensor<i32>
      %6 = func.call @remainder(%iterArg, %c_3) : (tensor<5xi32>, tensor<i32>) -> tensor<5xi32>
      %c_4 = stablehlo.constant dense<0> : tensor<i32>
      %7 = stablehlo.broadcast_in_dim %c_4, dims = [] : (tensor<i32>) -> tensor<5xi32>
      %8 = stablehlo.compare EQ, %6, %7, SIGNED : (tensor<5xi32>, tensor<5xi32>) -> tensor<5xi1>
      %c_5 = stablehlo.constant dense<1> : tensor<i32>
      %9 = stablehlo.broadcast_in_dim %c_5, dims = [] : (tensor<i32>) -> tensor<5xi32>
      %10 = stablehlo.shift_right_arithmetic %iterArg, %9 : tensor<5xi32>
      %c_6 = stablehlo.constant dense<3> : tensor<i32>
      %11 = stablehlo.broadcast_in_dim %c_6, dims = [] : (tensor<i32>) -> tensor<5xi32>
      %12 = stablehlo.multiply %11, %iterArg : tensor<5xi32>
      %c_7 = stablehlo.constant dense<1> : tensor<i32>
      %13 = stablehlo.broadcast_in_dim %c_7, dims = [] : (tensor<i32>) -> tensor<5xi32>
      %14 = stablehlo.add %12, %13 : tensor<5xi32>
      %15 = func.call @_where_0(%8, %10, %14) : (tensor<5xi1>, tensor<5xi32>, tensor<5xi32>) -> tensor<5xi32>
      %16 = func.call @_where_0(%5, %iterArg, %15) : (tensor<5xi1>, tensor<5xi32>, tensor<5xi32>) -> tensor<5xi32>
      %c_8 = stablehlo.constant dense<1> : tensor<i32>
      %17 = stablehlo.broadcast_in_dim %c_8, dims = [] : (tensor<i32>) -> tensor<5xi32>
      %18 = stablehlo.compare GT, %iterArg, %17, SIGNED : (tensor<5xi32>, tensor<5xi32>) -> tensor<5xi1>
      %19 = stablehlo.convert %18 : (tensor<5xi1>) -> tensor<5xi32>
      %20 = stablehlo.add %iterArg_1, %19 : tensor<5xi32>
      stablehlo.return %16, %20 : tensor<5xi32>, tensor<5xi32>
    }
    return %3#0, %3#1 : tensor<5xi32>, tensor<5xi32>
  }
  func.func private @remainder(%arg0: tensor<5xi32>, %arg1: tensor<i32>) -> tensor<5xi32> {
    %0 = stablehlo.convert %arg1 : tensor<i32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.compare EQ, %0, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %2 = call @_where(%1, %c_0, %0) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<i32>) -> tensor<5xi32>
    %4 = stablehlo.remainder %arg0, %3 : tensor<5xi32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %5 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<5xi32>
    %6 = stablehlo.compare NE, %4, %5, SIGNED : (tensor<5xi32>, tensor<5xi32>) -> tensor<5xi1>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %7 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<5xi32>
    %8 = stablehlo.compare LT, %4, %7, SIGNED : (tensor<5xi32>, tensor<5xi32>) -> tensor<5xi1>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %9 = stablehlo.compare LT, %2, %c_3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %10 = stablehlo.broadcast_in_dim %9, dims = [] : (tensor<i1>) -> tensor<5xi1>
    %11 = stablehlo.compare NE, %8, %10, UNSIGNED : (tensor<5xi1>, tensor<5xi1>) -> tensor<5xi1>
    %12 = stablehlo.and %11, %6 : tensor<5xi1>
    %13 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<i32>) -> tensor<5xi32>
    %14 = stablehlo.add %4, %13 : tensor<5xi32>
    %15 = stablehlo.select %12, %14, %4 : tensor<5xi1>, tensor<5xi32>
    return %15 : tensor<5xi32>
  }
  func.func private @_where(%arg0: tensor<i1>, %arg1: tensor<i32>, %arg2: tensor<i32>) -> tensor<i32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<i1>, tensor<i32>
    return %0 : tensor<i32>
  }
  func.func private @_where_0(%arg0: tensor<5xi1>, %arg1: tensor<5xi32>, %arg2: tensor<5xi32>) -> tensor<5xi32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<5xi1>, tensor<5xi32>
    return %0 : tensor<5xi32>
  }
}
