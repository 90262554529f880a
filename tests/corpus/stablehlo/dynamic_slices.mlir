module @dynamic_slices {
  func.func public @main() -> (tensor<3x4xf32>, tensor<6x10xf32>) {
    %in:3 = call @inputs() : () -> (tensor<6x10xf32>, tensor<2x3xf32>, tensor<2xi32>)
    %want:2 = call @expected() : () -> (tensor<3x4xf32>, tensor<6x10xf32>)
    %got:2 = call @dynamic_slices(%in#0, %in#1, %in#2) : (tensor<6x10xf32>, tensor<2x3xf32>, tensor<2xi32>) -> (tensor<3x4xf32>, tensor<6x10xf32>)
    stablehlo.custom_call @check.expect_eq(%got#0, %want#0) {has_side_effect = true} : (tensor<3x4xf32>, tensor<3x4xf32>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#1, %want#1) {has_side_effect = true} : (tensor<6x10xf32>, tensor<6x10xf32>) -> ()
    return %got#0, %got#1 : tensor<3x4xf32>, tensor<6x10xf32>
  }
  func.func private @inputs() -> (tensor<6x10xf32>, tensor<2x3xf32>, tensor<2xi32>) {
    %cst = stablehlo.constant dense<[[1.640625, -5.937500e-01, 6.250000e-01, 1.250000e-01, -2.968750e-01, 2.390625, -2.125000e+00, 2.703125, -9.062500e-01, -8.750000e-01], [6.562500e-01, 6.250000e-02, 3.750000e-01, -7.343750e-01, 1.687500e+00, -6.718750e-01, -1.234375, 7.187500e-01, -3.125000e-02, 5.781250e-01], [-7.656250e-01, -9.218750e-01, -1.812500e+00, -2.812500e-01, -6.250000e-02, -2.968750e-01, -1.281250e+00, 6.250000e-01, -9.531250e-01, 4.062500e-01], [-1.781250e+00, 6.875000e-01, 1.125000e+00, 2.515625, -1.875000e-01, -6.250000e-01, -3.750000e-01, 7.812500e-01, 8.125000e-01, -6.406250e-01], [-1.421875, 1.234375, -5.312500e-01, 3.593750e-01, 4.062500e-01, 1.265625, -4.218750e-01, 1.250000e-01, -1.062500e+00, -3.906250e-01], [-7.812500e-01, -9.375000e-02, -1.718750e+00, 3.125000e-02, -4.687500e-01, -2.000000e+00, 5.468750e-01, 9.375000e-02, -1.359375, 3.125000e-01]]> : tensor<6x10xf32>
    %cst_0 = stablehlo.constant dense<[[3.437500e-01, 1.812500e+00, 1.156250e+00], [-3.437500e-01, 2.031250e-01, 1.187500e+00]]> : tensor<2x3xf32>
    %c = stablehlo.constant dense<[2, 6]> : tensor<2xi32>
    return %cst, %cst_0, %c : tensor<6x10xf32>, tensor<2x3xf32>, tensor<2xi32>
  }
  func.func private @expected() -> (tensor<3x4xf32>, tensor<6x10xf32>) {
    %cst = stablehlo.constant dense<[[-1.281250e+00, 6.250000e-01, -9.531250e-01, 4.062500e-01], [-3.750000e-01, 7.812500e-01, 8.125000e-01, -6.406250e-01], [-4.218750e-01, 1.250000e-01, -1.062500e+00, -3.906250e-01]]> : tensor<3x4xf32>
    %cst_0 = stablehlo.constant dense<[[1.640625, -5.937500e-01, 6.250000e-01, 1.250000e-01, -2.968750e-01, 2.390625, -2.125000e+00, 2.703125, -9.062500e-01, -8.750000e-01], [6.562500e-01, 6.250000e-02, 3.750000e-01, -7.343750e-01, 1.687500e+00, -6.718750e-01, -1.234375, 7.187500e-01, -3.125000e-02, 5.781250e-01], [-7.656250e-01, -9.218750e-01, -1.812500e+00, -2.812500e-01, -6.250000e-02, -2.968750e-01, -1.281250e+00, 6.250000e-01, -9.531250e-01, 4.062500e-01], [-1.781250e+00, 6.875000e-01, 1.125000e+00, 2.515625, -1.875000e-01, -6.250000e-01, -3.750000e-01, 7.812500e-01, 8.125000e-01, -6.406250e-01], [-1.421875, 1.234375, 3.437500e-01, 1.812500e+00, 1.156250e+00, 1.265625, -4.218750e-01, 1.250000e-01, -1.062500e+00, -3.906250e-01], [-7.812500e-01, -9.375000e-02, -3.437500e-01, 2.031250e-01, 1.187500e+00, -2.000000e+00, 5.468750e-01, 9.375000e-02, -1.359375, 3.125000e-01]]> : tensor<6x10xf32>
    return %cst, %cst_0 : tensor<3x4xf32>, tensor<6x10xf32>
  }
  func.func private @dynamic_slices(%arg0: tensor<6x10xf32>, %arg1: tensor<2x3xf32>, %arg2: tensor<2xi32>) -> (tensor<3x4xf32>, tensor<6x10xf32>) {
    %0 = stablehlo.slice %arg2 [0:1] : (tensor<2xi32>) -> tensor<1xi32>
    %1 = stablehlo.reshape %0 : (tensor<1xi32>) -> tensor<i32>
    %2 = stablehlo.slice %arg2 [1:2] : (tensor<2xi32>) -> tensor<1xi32>
    %3 = stablehlo.reshape %2 : (tensor<1xi32>) -> tensor<i32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %4 = stablehlo.compare LT, %1, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_0 = stablehlo.constant dense<6> : tensor<i32>
    %5 = stablehlo.add %1, %c_0 : tensor<i32>
    %6 = stablehlo.select %4, %5, %1 : tensor<i1>, tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %7 = stablehlo.compare LT, %3, %c_1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_2 = stablehlo.constant dense<10> : tensor<i32>
    %8 = stablehlo.add %3, %c_2 : tensor<i32>
    %9 = stablehlo.select %7, %8, %3 : tensor<i1>, tensor<i32>
    %10 = stablehlo.dynamic_slice %arg0, %6, %9, sizes = [3, 4] : (tensor<6x10xf32>, tensor<i32>, tensor<i32>) -> tensor<3x4xf32>
    %11 = stablehlo.slice %arg2 [1:2] : (tensor<2xi32>) -> tensor<1xi32>
    %12 = stablehlo.reshape %11 : (tensor<1xi32>) -> tensor<i32>
    %13 = stablehlo.slice %arg2 [0:1] : (tensor<2xi32>) -> tensor<1xi32>
    %14 = stablehlo.reshape %13 : (tensor<1xi32>) -> tensor<i32>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %15 = stablehlo.compare LT, %12, %c_3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_4 = stablehlo.constant dense<6> : tensor<i32>
    %16 = stablehlo.add %12, %c_4 : tensor<i32>
    %17 = stablehlo.select %15, %16, %12 : tensor<i1>, tensor<i32>
    %c_5 = stablehlo.constant dense<0> : tensor<i32>
    %18 = stablehlo.compare LT, %14, %c_5, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_6 = stablehlo.constant dense<10> : tensor<i32>
    %19 = stablehlo.add %14, %c_6 : tensor<i32>
    %20 = stablehlo.select %18, %19, %14 : tensor<i1>, tensor<i32>
    %21 = stablehlo.dynamic_update_slice %arg0, %arg1, %17, %20 : (tensor<6x10xf32>, tensor<2x3xf32>, tensor<i32>, tensor<i32>) -> tensor<6x10xf32>
    return %10, %21 : tensor<3x4xf32>, tensor<6x10xf32>
  }
}
