module @position_of_extremes {
  func.func public @main() -> (tensor<4xi32>, tensor<9xi32>) {
    %in = call @inputs() : () -> (tensor<4x9xf32>)
    %want:2 = call @expected() : () -> (tensor<4xi32>, tensor<9xi32>)
    %got:2 = call @position_of_extremes(%in) : (tensor<4x9xf32>) -> (tensor<4xi32>, tensor<9xi32>)
    stablehlo.custom_call @check.expect_eq(%got#0, %want#0) {has_side_effect = true} : (tensor<4xi32>, tensor<4xi32>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#1, %want#1) {has_side_effect = true} : (tensor<9xi32>, tensor<9xi32>) -> ()
    return %got#0, %got#1 : tensor<4xi32>, tensor<9xi32>
  }
  func.func private @inputs() -> (tensor<4x9xf32>) {
    %cst = stablehlo.constant dense<[[-1.562500e+00, 1.125000e+00, -1.453125, -4.531250e-01, 1.328125, 9.687500e-01, 0.000000e+00, 1.984375, 1.078125], [5.781250e-01, -1.265625, 2.812500e-01, -5.781250e-01, 5.000000e-01, -5.937500e-01, 3.437500e-01, -3.125000e-01, 0.000000e+00], [2.375000e+00, -2.187500e-01, 2.812500e-01, -1.109375, -5.156250e-01, -4.218750e-01, -1.484375, -9.687500e-01, 1.468750e+00], [2.656250e-01, 1.250000e-01, 1.156250e+00, 6.250000e-02, -2.812500e-01, 1.140625, 2.968750e-01, -2.968750e-01, 7.812500e-01]]> : tensor<4x9xf32>
    return %cst : tensor<4x9xf32>
  }
  func.func private @expected() -> (tensor<4xi32>, tensor<9xi32>) {
    %c = stablehlo.constant dense<[7, 0, 0, 2]> : tensor<4xi32>
    %c_0 = stablehlo.constant dense<[0, 1, 0, 2, 2, 1, 2, 2, 1]> : tensor<9xi32>
    return %c, %c_0 : tensor<4xi32>, tensor<9xi32>
  }
  func.func private @position_of_extremes(%arg0: tensor<4x9xf32>) -> (tensor<4xi32>, tensor<9xi32>) {
    %0 = call @argmax(%arg0) : (tensor<4x9xf32>) -> tensor<4xi32>
    %1 = call @argmin(%arg0) : (tensor<4x9xf32>) -> tensor<9xi32>
    return %0, %1 : tensor<4xi32>, tensor<9xi32>
  }
  func.func private @argmax(%arg0: tensor<4x9xf32>) -> tensor<4xi32> {
    %0 = stablehlo.iota dim = 1 : tensor<4x9xi32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1:2 = stablehlo.reduce(%arg0 init: %cst), (%0 init: %c) across dimensions = [1] : (tensor<4x9xf32>, tensor<4x9xi32>, tensor<f32>, tensor<i32>) -> (tensor<4xf32>, tensor<4xi32>)
     reducer(%arg1: tensor<f32>, %arg3: tensor<f32>) (%arg2: tensor<i32>, %arg4: tensor<i32>)  {
      %2 = stablehlo.compare GT, %arg1, %arg3, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %3 = stablehlo.compare NE, %arg1, %arg1, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %4 = stablehlo.or %2, %3 : tensor<i1>
      %5 = stablehlo.compare EQ, %arg1, %arg3, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %6 = stablehlo.compare LT, %arg2, %arg4, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %7 = stablehlo.and %5, %6 : tensor<i1>
      %8 = stablehlo.or %4, %7 : tensor<i1>
      %9 = stablehlo.select %4, %arg1, %arg3 : tensor<i1>, tensor<f32>
      %10 = stablehlo.select %8, %arg2, %arg4 : tensor<i1>, tensor<i32>
      stablehlo.return %9, %10 : tensor<f32>, tensor<i32>
    }
    return %1#1 : tensor<4xi32>
  }
  func.func private @argmin(%arg0: tensor<4x9xf32>) -> tensor<9xi32> {
    %0 = stablehlo.iota dim = 0 : tensor<4x9xi32>
    %cst = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1:2 = stablehlo.reduce(%arg0 init: %cst), (%0 init: %c) across dimensions = [0] : (tensor<4x9xf32>, tensor<4x9xi32>, tensor<f32>, tensor<i32>) -> (tensor<9xf32>, tensor<9xi32>)
     reducer(%arg1: tensor<f32>, %arg3: tensor<f32>) (%arg2: tensor<i32>, %arg4: tensor<i32>)  {
      %2 = stablehlo.compare LT, %arg1, %arg3, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %3 = stablehlo.compare NE, %arg1, %arg1, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %4 = stablehlo.or %2, %3 : tensor<i1>
      %5 = stablehlo.compare EQ, %arg1, %arg3, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %6 = stablehlo.compare LT, %arg2, %arg4, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %7 = stablehlo.and %5, %6 : tensor<i1>
      %8 = stablehlo.or %4, %7 : tensor<i1>
      %9 = stablehlo.select %4, %arg1, %arg3 : tensor<i1>, tensor<f32>
      %10 = stablehlo.select %8, %arg2, %arg4 : tensor<i1>, tensor<i32>
      stablehlo.return %9, %10 : tensor<f32>, tensor<i32>
    }
    return %1#1 : tensor<9xi32>
  }
}
