module @pads_and_joins {
  func.func public @main() -> (tensor<6x6xf32>, tensor<6x4xf32>, tensor<2x2xf32>) {
    %in:2 = call @inputs() : () -> (tensor<3x4xf32>, tensor<2x4xf32>)
    %want:3 = call @expected() : () -> (tensor<6x6xf32>, tensor<6x4xf32>, tensor<2x2xf32>)
    %got:3 = call @pads_and_joins(%in#0, %in#1) : (tensor<3x4xf32>, tensor<2x4xf32>) -> (tensor<6x6xf32>, tensor<6x4xf32>, tensor<2x2xf32>)
    stablehlo.custom_call @check.expect_eq(%got#0, %want#0) {has_side_effect = true} : (tensor<6x6xf32>, tensor<6x6xf32>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#1, %want#1) {has_side_effect = true} : (tensor<6x4xf32>, tensor<6x4xf32>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#2, %want#2) {has_side_effect = true} : (tensor<2x2xf32>, tensor<2x2xf32>) -> ()
    return %got#0, %got#1, %got#2 : tensor<6x6xf32>, tensor<6x4xf32>, tensor<2x2xf32>
  }
  func.func private @inputs() -> (tensor<3x4xf32>, tensor<2x4xf32>) {
    %cst = stablehlo.constant dense<[[-1.656250e+00, 6.250000e-02, -7.812500e-01, -7.812500e-02], [1.109375, -2.968750e-01, -3.281250e-01, -7.343750e-01], [-4.062500e-01, -2.187500e-01, 3.125000e-02, -1.281250e+00]]> : tensor<3x4xf32>
    %cst_0 = stablehlo.constant dense<[[-6.250000e-01, 2.187500e-01, -1.343750e+00, 9.375000e-02], [-1.812500e+00, 2.812500e-01, 6.562500e-01, -1.312500e+00]]> : tensor<2x4xf32>
    return %cst, %cst_0 : tensor<3x4xf32>, tensor<2x4xf32>
  }
  func.func private @expected() -> (tensor<6x6xf32>, tensor<6x4xf32>, tensor<2x2xf32>) {
    %cst = stablehlo.constant dense<[[-7.500000e+00, -7.500000e+00, -7.500000e+00, -7.500000e+00, -7.500000e+00, -7.500000e+00], [-7.500000e+00, 6.250000e-02, -7.500000e+00, -7.812500e-01, -7.500000e+00, -7.812500e-02], [-7.500000e+00, -2.968750e-01, -7.500000e+00, -3.281250e-01, -7.500000e+00, -7.343750e-01], [-7.500000e+00, -2.187500e-01, -7.500000e+00, 3.125000e-02, -7.500000e+00, -1.281250e+00], [-7.500000e+00, -7.500000e+00, -7.500000e+00, -7.500000e+00, -7.500000e+00, -7.500000e+00], [-7.500000e+00, -7.500000e+00, -7.500000e+00, -7.500000e+00, -7.500000e+00, -7.500000e+00]]> : tensor<6x6xf32>
    %cst_0 = stablehlo.constant dense<[[-1.656250e+00, 6.250000e-02, -7.812500e-01, -7.812500e-02], [1.109375, -2.968750e-01, -3.281250e-01, -7.343750e-01], [-4.062500e-01, -2.187500e-01, 3.125000e-02, -1.281250e+00], [-6.250000e-01, 2.187500e-01, -1.343750e+00, 9.375000e-02], [-1.812500e+00, 2.812500e-01, 6.562500e-01, -1.312500e+00], [-1.656250e+00, 6.250000e-02, -7.812500e-01, -7.812500e-02]]> : tensor<6x4xf32>
    %cst_1 = stablehlo.constant dense<[[-7.343750e-01, -2.968750e-01], [-7.812500e-02, 6.250000e-02]]> : tensor<2x2xf32>
    return %cst, %cst_0, %cst_1 : tensor<6x6xf32>, tensor<6x4xf32>, tensor<2x2xf32>
  }
  func.func private @pads_and_joins(%arg0: tensor<3x4xf32>, %arg1: tensor<2x4xf32>) -> (tensor<6x6xf32>, tensor<6x4xf32>, tensor<2x2xf32>) {
    %cst = stablehlo.constant dense<-7.500000e+00> : tensor<f32>
    %0 = stablehlo.pad %arg0, %cst, low = [1, -1], high = [2, 0], interior = [0, 1] : (tensor<3x4xf32>, tensor<f32>) -> tensor<6x6xf32>
    %1 = stablehlo.slice %arg0 [0:1, 0:4] : (tensor<3x4xf32>) -> tensor<1x4xf32>
    %2 = stablehlo.concatenate %arg0, %arg1, %1, dim = 0 : (tensor<3x4xf32>, tensor<2x4xf32>, tensor<1x4xf32>) -> tensor<6x4xf32>
    %3 = stablehlo.reverse %arg0, dims = [0, 1] : tensor<3x4xf32>
    %4 = stablehlo.slice %3 [1:3, 0:4:2] : (tensor<3x4xf32>) -> tensor<2x2xf32>
    return %0, %2, %4 : tensor<6x6xf32>, tensor<6x4xf32>, tensor<2x2xf32>
  }
}
