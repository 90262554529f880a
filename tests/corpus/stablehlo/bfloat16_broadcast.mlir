module @bfloat16_broadcast {
  func.func public @main() -> (tensor<4x7xbf16>, tensor<4x7xbf16>, tensor<4x7xf32>) {
    %in:2 = call @inputs() : () -> (tensor<4x7xbf16>, tensor<7xbf16>)
    %want:3 = call @expected() : () -> (tensor<4x7xbf16>, tensor<4x7xbf16>, tensor<4x7xf32>)
    %got:3 = call @bfloat16_broadcast(%in#0, %in#1) : (tensor<4x7xbf16>, tensor<7xbf16>) -> (tensor<4x7xbf16>, tensor<4x7xbf16>, tensor<4x7xf32>)
    stablehlo.custom_call @check.expect_eq(%got#0, %want#0) {has_side_effect = true} : (tensor<4x7xbf16>, tensor<4x7xbf16>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#1, %want#1) {has_side_effect = true} : (tensor<4x7xbf16>, tensor<4x7xbf16>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#2, %want#2) {has_side_effect = true} : (tensor<4x7xf32>, tensor<4x7xf32>) -> ()
    return %got#0, %got#1, %got#2 : tensor<4x7xbf16>, tensor<4x7xbf16>, tensor<4x7xf32>
  }
  func.func private @inputs() -> (tensor<4x7xbf16>, tensor<7xbf16>) {
    %cst = stablehlo.constant dense<[[2.968750e-01, 1.312500e+00, -6.875000e-01, 3.593750e-01, -4.843750e-01, -2.187500e-01, -3.281250e-01], [-5.781250e-01, 1.125000e+00, -6.406250e-01, 5.156250e-01, -5.625000e-01, -1.140630e+00, 3.437500e-01], [1.562500e+00, -4.687500e-02, -7.187500e-01, 1.578130e+00, 1.578130e+00, 1.203130e+00, 9.375000e-01], [1.203130e+00, 9.062500e-01, 1.406250e-01, 8.906250e-01, 1.093750e+00, -1.093750e+00, -6.093750e-01]]> : tensor<4x7xbf16>
    %cst_0 = stablehlo.constant dense<[-9.687500e-01, 8.281250e-01, 2.343750e-01, -1.406250e-01, -2.640630e+00, -4.062500e-01, 1.718750e-01]> : tensor<7xbf16>
    return %cst, %cst_0 : tensor<4x7xbf16>, tensor<7xbf16>
  }
  func.func private @expected() -> (tensor<4x7xbf16>, tensor<4x7xbf16>, tensor<4x7xf32>) {
    %cst = stablehlo.constant dense<[[-6.718750e-01, 2.140630e+00, -4.531250e-01, 2.187500e-01, -3.125000e+00, -6.250000e-01, -1.562500e-01], [-1.546880e+00, 1.953130e+00, -4.062500e-01, 3.750000e-01, -3.203130e+00, -1.546880e+00, 5.156250e-01], [5.937500e-01, 7.812500e-01, -4.843750e-01, 1.437500e+00, -1.062500e+00, 7.968750e-01, 1.109380e+00], [2.343750e-01, 1.734380e+00, 3.750000e-01, 7.500000e-01, -1.546880e+00, -1.500000e+00, -4.375000e-01]]> : tensor<4x7xbf16>
    %cst_0 = stablehlo.constant dense<[[2.968750e-01, 1.312500e+00, 6.875000e-01, 3.593750e-01, -4.843750e-01, -2.187500e-01, 3.281250e-01], [-5.781250e-01, 1.125000e+00, 6.406250e-01, 5.156250e-01, -5.625000e-01, 1.140630e+00, 3.437500e-01], [1.562500e+00, 4.687500e-02, 7.187500e-01, 1.578130e+00, 1.578130e+00, 1.203130e+00, 9.375000e-01], [1.203130e+00, 9.062500e-01, -1.406250e-01, 8.906250e-01, 1.093750e+00, 1.093750e+00, 6.093750e-01]]> : tensor<4x7xbf16>
    %cst_1 = stablehlo.constant dense<[[0.07421875, 3.281250e-01, -1.718750e-01, 0.08984375, -0.12109375, -5.468750e-02, -0.08203125], [-0.14453125, 2.812500e-01, -0.16015625, 0.12890625, -1.406250e-01, -0.28515625, 8.593750e-02], [3.906250e-01, -0.01171875, -0.1796875, 0.39453125, 0.39453125, 0.30078125, 2.343750e-01], [0.30078125, 0.2265625, 0.03515625, 0.22265625, 0.2734375, -0.2734375, -0.15234375]]> : tensor<4x7xf32>
    return %cst, %cst_0, %cst_1 : tensor<4x7xbf16>, tensor<4x7xbf16>, tensor<4x7xf32>
  }
  func.func private @bfloat16_broadcast(%arg0: tensor<4x7xbf16>, %arg1: tensor<7xbf16>) -> (tensor<4x7xbf16>, tensor<4x7xbf16>, tensor<4x7xf32>) {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<7xbf16>) -> tensor<1x7xbf16>
    %1 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<1x7xbf16>) -> tensor<4x7xbf16>
    %2 = stablehlo.add %arg0, %1 : tensor<4x7xbf16>
    %3 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<7xbf16>) -> tensor<1x7xbf16>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<1x7xbf16>) -> tensor<4x7xbf16>
    %5 = stablehlo.compare GT, %arg0, %4, FLOAT : (tensor<4x7xbf16>, tensor<4x7xbf16>) -> tensor<4x7xi1>
    %6 = stablehlo.negate %arg0 : tensor<4x7xbf16>
    %7 = call @_where(%5, %arg0, %6) : (tensor<4x7xi1>, tensor<4x7xbf16>, tensor<4x7xbf16>) -> tensor<4x7xbf16>
    %8 = stablehlo.convert %arg0 : (tensor<4x7xbf16>) -> tensor<4x7xf32>
    %cst = stablehlo.constant dense<2.500000e-01> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x7xf32>
    %10 = stablehlo.multiply %8, %9 : tensor<4x7xf32>
    return %2, %7, %10 : tensor<4x7xbf16>, tensor<4x7xbf16>, tensor<4x7xf32>
  }
  func.func private @_where(%arg0: tensor<4x7xi1>, %arg1: tensor<4x7xbf16>, %arg2: tensor<4x7xbf16>) -> tensor<4x7xbf16> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<4x7xi1>, tensor<4x7xbf16>
    return %0 : tensor<4x7xbf16>
  }
}
