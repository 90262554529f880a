module @elementwise_chain {
  func.func public @main() -> tensor<3x5xf32> {
    %in:2 = call @inputs() : () -> (tensor<3x5xf32>, tensor<3x5xf32>)
    %want = call @expected() : () -> (tensor<3x5xf32>)
    %got = call @elementwise_chain(%in#0, %in#1) : (tensor<3x5xf32>, tensor<3x5xf32>) -> (tensor<3x5xf32>)
    stablehlo.custom_call @check.expect_eq(%got, %want) {has_side_effect = true} : (tensor<3x5xf32>, tensor<3x5xf32>) -> ()
    return %got : tensor<3x5xf32>
  }
  func.func private @inputs() -> (tensor<3x5xf32>, tensor<3x5xf32>) {
    %cst = stablehlo.constant dense<[[1.718750e-01, 1.125000e+00, -1.843750e+00, 9.375000e-01, -1.593750e+00], [5.156250e-01, -1.562500e-02, -1.593750e+00, 1.281250e+00, 1.796875], [-6.406250e-01, -7.812500e-02, -3.437500e-01, -2.500000e-01, -8.437500e-01]]> : tensor<3x5xf32>
    %cst_0 = stablehlo.constant dense<[[-1.250000e+00, 1.562500e-02, -2.968750e-01, -1.718750e+00, 2.093750e+00], [2.187500e-01, 3.750000e-01, -1.781250e+00, 3.281250e-01, -5.156250e-01], [-7.031250e-01, 1.609375, -1.406250e+00, -2.343750e-01, -2.125000e+00]]> : tensor<3x5xf32>
    return %cst, %cst_0 : tensor<3x5xf32>, tensor<3x5xf32>
  }
  func.func private @expected() -> (tensor<3x5xf32>) {
    %cst = stablehlo.constant dense<[[0.7109375, 0.5703125, -0.7734375, 1.328125, 2.500000e-01], [0.3671875, 0.1796875, 9.375000e-02, 0.8046875, 1.156250e+00], [3.125000e-02, 7.656250e-01, 5.312500e-01, -7.812500e-03, 6.406250e-01]]> : tensor<3x5xf32>
    return %cst : tensor<3x5xf32>
  }
  func.func private @elementwise_chain(%arg0: tensor<3x5xf32>, %arg1: tensor<3x5xf32>) -> (tensor<3x5xf32>) {
    %0 = stablehlo.add %arg0, %arg1 : tensor<3x5xf32>
    %1 = stablehlo.subtract %arg0, %arg1 : tensor<3x5xf32>
    %2 = stablehlo.maximum %0, %1 : tensor<3x5xf32>
    %cst = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<3x5xf32>
    %4 = stablehlo.multiply %2, %3 : tensor<3x5xf32>
    return %4 : tensor<3x5xf32>
  }
}
