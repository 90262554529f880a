module @private_functions {
  func.func public @main() -> (tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>) {
    %in:2 = call @inputs() : () -> (tensor<4x6xf32>, tensor<4x6xf32>)
    %want:4 = call @expected() : () -> (tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>)
    %got:4 = call @private_functions(%in#0, %in#1) : (tensor<4x6xf32>, tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>)
    stablehlo.custom_call @check.expect_eq(%got#0, %want#0) {has_side_effect = true} : (tensor<4x6xf32>, tensor<4x6xf32>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#1, %want#1) {has_side_effect = true} : (tensor<4x6xf32>, tensor<4x6xf32>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#2, %want#2) {has_side_effect = true} : (tensor<4x6xf32>, tensor<4x6xf32>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#3, %want#3) {has_side_effect = true} : (tensor<4x6xf32>, tensor<4x6xf32>) -> ()
    return %got#0, %got#1, %got#2, %got#3 : tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>
  }
  func.func private @inputs() -> (tensor<4x6xf32>, tensor<4x6xf32>) {
    %cst = stablehlo.constant dense<[[-1.187500e+00, -5.312500e-01, -7.031250e-01, -1.609375, 1.640625, -1.250000e+00], [-7.343750e-01, 5.000000e-01, -3.906250e-01, -2.968750e-01, 4.531250e-01, 5.937500e-01], [1.250000e-01, 1.609375, 8.750000e-01, -8.281250e-01, -8.593750e-01, 2.234375], [1.281250e+00, -3.281250e-01, 1.328125, -9.687500e-01, -2.968750e-01, 1.484375]]> : tensor<4x6xf32>
    %cst_0 = stablehlo.constant dense<[[-1.875000e+00, -9.375000e-02, -1.296875, -3.750000e-01, -7.031250e-01, -9.687500e-01], [-1.093750e+00, -6.718750e-01, -9.218750e-01, -2.296875, -2.031250e-01, -8.750000e-01], [-7.968750e-01, -8.437500e-01, -2.187500e-01, -1.953125, -1.015625, 1.453125], [-2.500000e-01, -6.093750e-01, 7.656250e-01, 9.218750e-01, 4.687500e-02, -1.031250e+00]]> : tensor<4x6xf32>
    return %cst, %cst_0 : tensor<4x6xf32>, tensor<4x6xf32>
  }
  func.func private @expected() -> (tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>) {
    %cst = stablehlo.constant dense<[[-5.000000e-01, -9.687500e-01, -1.093750e-01, -2.843750e+00, 3.984375, -1.531250e+00], [-3.750000e-01, 1.671875, 1.406250e-01, 1.703125, 1.109375, 2.062500e+00], [1.046875, 4.062500e+00, 1.968750e+00, 2.968750e-01, -7.031250e-01, 3.015625], [2.812500e+00, -4.687500e-02, 1.890625, -2.859375, -6.406250e-01, 4.000000e+00]]> : tensor<4x6xf32>
    %cst_0 = stablehlo.constant dense<[[-3.750000e+00, -1.875000e-01, -2.593750e+00, -7.500000e-01, -1.406250e+00, -1.937500e+00], [-2.187500e+00, -1.343750e+00, -1.843750e+00, -4.593750e+00, -4.062500e-01, -1.750000e+00], [-1.593750e+00, -1.687500e+00, -4.375000e-01, -3.906250e+00, -2.031250e+00, 2.906250e+00], [-5.000000e-01, -1.218750e+00, 1.531250e+00, 1.843750e+00, 9.375000e-02, -2.062500e+00]]> : tensor<4x6xf32>
    %cst_1 = stablehlo.constant dense<[[-1.000000e+00, -9.375000e-02, -1.000000e+00, -3.750000e-01, -7.031250e-01, -9.687500e-01], [-1.000000e+00, -6.718750e-01, -9.218750e-01, -1.000000e+00, -2.031250e-01, -8.750000e-01], [-7.968750e-01, -8.437500e-01, -2.187500e-01, -1.000000e+00, -1.000000e+00, 1.000000e+00], [-2.500000e-01, -6.093750e-01, 7.656250e-01, 9.218750e-01, 4.687500e-02, -1.000000e+00]]> : tensor<4x6xf32>
    %cst_2 = stablehlo.constant dense<[[-2.562500e+00, 3.437500e-01, -1.890625, 8.593750e-01, -3.046875, -6.875000e-01], [-1.453125, -1.843750e+00, -1.453125, -4.296875, -8.593750e-01, -2.343750e+00], [-1.718750e+00, -3.296875, -1.312500e+00, -3.078125, -1.171875, 6.718750e-01], [-1.781250e+00, -8.906250e-01, 2.031250e-01, 2.812500e+00, 3.906250e-01, -3.546875]]> : tensor<4x6xf32>
    return %cst, %cst_0, %cst_1, %cst_2 : tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>
  }
  func.func private @private_functions(%arg0: tensor<4x6xf32>, %arg1: tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>) {
    %0:3 = call @outer(%arg0, %arg1) : (tensor<4x6xf32>, tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>)
    %1:3 = call @outer(%arg1, %arg0) : (tensor<4x6xf32>, tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>)
    return %0#0, %0#1, %0#2, %1#0 : tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>
  }
  func.func private @outer(%arg0: tensor<4x6xf32>, %arg1: tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>) {
    %0:2 = call @inner(%arg0) : (tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<4x6xf32>)
    %1 = stablehlo.subtract %0#0, %arg1 : tensor<4x6xf32>
    %2:2 = call @inner(%arg1) : (tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<4x6xf32>)
    return %1, %2#0, %2#1 : tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>
  }
  func.func private @inner(%arg0: tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<4x6xf32>) {
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x6xf32>
    %1 = stablehlo.multiply %arg0, %0 : tensor<4x6xf32>
    %c = stablehlo.constant dense<-1> : tensor<i32>
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %2 = call @clip(%arg0, %c, %c_0) : (tensor<4x6xf32>, tensor<i32>, tensor<i32>) -> tensor<4x6xf32>
    return %1, %2 : tensor<4x6xf32>, tensor<4x6xf32>
  }
  func.func private @clip(%arg0: tensor<4x6xf32>, %arg1: tensor<i32>, %arg2: tensor<i32>) -> tensor<4x6xf32> {
    %0 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<4x6xf32>
    %2 = stablehlo.maximum %1, %arg0 : tensor<4x6xf32>
    %3 = stablehlo.convert %arg2 : (tensor<i32>) -> tensor<f32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<f32>) -> tensor<4x6xf32>
    %5 = stablehlo.minimum %4, %2 : tensor<4x6xf32>
    return %5 : tensor<4x6xf32>
  }
}
