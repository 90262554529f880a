module @reductions {
  func.func public @main() -> (tensor<3x7xf32>, tensor<5xf32>, tensor<f32>, tensor<5x7xi1>) {
    %in = call @inputs() : () -> (tensor<3x5x7xf32>)
    %want:4 = call @expected() : () -> (tensor<3x7xf32>, tensor<5xf32>, tensor<f32>, tensor<5x7xi1>)
    %got:4 = call @reductions(%in) : (tensor<3x5x7xf32>) -> (tensor<3x7xf32>, tensor<5xf32>, tensor<f32>, tensor<5x7xi1>)
    stablehlo.custom_call @check.expect_eq(%got#0, %want#0) {has_side_effect = true} : (tensor<3x7xf32>, tensor<3x7xf32>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#1, %want#1) {has_side_effect = true} : (tensor<5xf32>, tensor<5xf32>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#2, %want#2) {has_side_effect = true} : (tensor<f32>, tensor<f32>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#3, %want#3) {has_side_effect = true} : (tensor<5x7xi1>, tensor<5x7xi1>) -> ()
    return %got#0, %got#1, %got#2, %got#3 : tensor<3x7xf32>, tensor<5xf32>, tensor<f32>, tensor<5x7xi1>
  }
  func.func private @inputs() -> (tensor<3x5x7xf32>) {
    %cst = stablehlo.constant dense<"0x000080400000E0400000E040000000410000803F00000000000000400000803F0000E0400000E0400000A040000040400000C0400000C0400000803F0000C0400000E0400000E0400000A0400000404000008040000000000000803F0000404000000040000000400000A04000000000000000410000A04000008040000040400000A0400000803F0000803F00000040000000400000A040000040400000C0400000A0400000E040000000410000E040000000410000C040000080400000803F0000C0400000C0400000C0400000004100000041000000410000803F0000803F00000000000040400000404000008040000080400000E0400000A04000000040000000000000A0400000803F0000E040000000000000E0400000E0400000803F00000041000000000000A0400000A040000000000000004100000000000000000000E0400000000000000000000000400000C0400000E040000040400000803F0000803F000000400000804000000000000000000000C040000000400000E0400000000000004040000000000000E04000008040000040400000E0400000C04000008040"> : tensor<3x5x7xf32>
    return %cst : tensor<3x5x7xf32>
  }
  func.func private @expected() -> (tensor<3x7xf32>, tensor<5xf32>, tensor<f32>, tensor<5x7xi1>) {
    %cst = stablehlo.constant dense<[[1.400000e+01, 2.600000e+01, 2.800000e+01, 2.500000e+01, 1.600000e+01, 1.500000e+01, 1.300000e+01], [1.800000e+01, 1.800000e+01, 2.900000e+01, 2.200000e+01, 2.900000e+01, 1.400000e+01, 2.600000e+01], [2.100000e+01, 1.500000e+01, 2.100000e+01, 1.300000e+01, 2.000000e+01, 1.300000e+01, 1.300000e+01]]> : tensor<3x7xf32>
    %cst_0 = stablehlo.constant dense<[8.000000e+00, 8.000000e+00, 8.000000e+00, 7.000000e+00, 8.000000e+00]> : tensor<5xf32>
    %c = stablehlo.constant dense<[[false, false, true, true, false, false, false], [true, false, true, false, false, false, false], [false, false, true, true, true, false, false], [false, false, false, false, false, false, false], [true, false, false, false, false, false, false]]> : tensor<5x7xi1>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    return %cst, %cst_0, %cst_1, %c : tensor<3x7xf32>, tensor<5xf32>, tensor<f32>, tensor<5x7xi1>
  }
  func.func private @reductions(%arg0: tensor<3x5x7xf32>) -> (tensor<3x7xf32>, tensor<5xf32>, tensor<f32>, tensor<5x7xi1>) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<3x5x7xf32>, tensor<f32>) -> tensor<3x7xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.reduce(%arg0 init: %cst_0) applies stablehlo.maximum across dimensions = [0, 2] : (tensor<3x5x7xf32>, tensor<f32>) -> tensor<5xf32>
    %cst_1 = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %2 = stablehlo.reduce(%arg0 init: %cst_1) applies stablehlo.minimum across dimensions = [0, 1, 2] : (tensor<3x5x7xf32>, tensor<f32>) -> tensor<f32>
    %cst_2 = stablehlo.constant dense<7.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<3x5x7xf32>
    %4 = stablehlo.compare GT, %arg0, %3, FLOAT : (tensor<3x5x7xf32>, tensor<3x5x7xf32>) -> tensor<3x5x7xi1>
    %c = stablehlo.constant dense<false> : tensor<i1>
    %5 = stablehlo.reduce(%4 init: %c) applies stablehlo.or across dimensions = [0] : (tensor<3x5x7xi1>, tensor<i1>) -> tensor<5x7xi1>
    return %0, %1, %2, %5 : tensor<3x7xf32>, tensor<5xf32>, tensor<f32>, tensor<5x7xi1>
  }
}
