module @softmax_rows {
  func.func public @main() -> tensor<4x9xf32> {
    %in = call @inputs() : () -> (tensor<4x9xf32>)
    %want = call @expected() : () -> (tensor<4x9xf32>)
    %got = call @softmax_rows(%in) : (tensor<4x9xf32>) -> (tensor<4x9xf32>)
    stablehlo.custom_call @check.expect_close(%got, %want) {has_side_effect = true} : (tensor<4x9xf32>, tensor<4x9xf32>) -> ()
    return %got : tensor<4x9xf32>
  }
  func.func private @inputs() -> (tensor<4x9xf32>) {
    %cst = stablehlo.constant dense<[[-3.281250e-01, 4.218750e-01, 2.234375, -1.015625, -4.218750e-01, -4.062500e-01, 3.906250e-01, 1.546875, -5.937500e-01], [1.140625, 6.093750e-01, 4.531250e-01, -6.718750e-01, -8.281250e-01, -0.000000e+00, 1.062500e+00, -4.687500e-01, -6.250000e-02], [1.390625, 6.093750e-01, -3.281250e-01, -2.031250e-01, -3.125000e-01, 1.343750e+00, 5.156250e-01, 3.437500e-01, 1.093750e-01], [-5.468750e-01, 1.187500e+00, -1.218750e+00, -1.765625, -5.625000e-01, 3.125000e-01, -1.156250e+00, -2.656250e-01, -3.906250e-01]]> : tensor<4x9xf32>
    return %cst : tensor<4x9xf32>
  }
  func.func private @expected() -> (tensor<4x9xf32>) {
    %cst = stablehlo.constant dense<[[0.0360194221, 0.0762531161, 0.467106968, 0.0181117021, 0.0327960588, 0.0333125181, 0.073907055, 0.234876141, 0.0276170485], [0.241644368, 0.142055392, 0.121506415, 0.0394473597, 0.0337411128, 0.0772341787, 0.223484501, 0.0483319126, 0.0725547969], [0.248620719, 0.113826856, 0.0445752367, 0.0505103655, 0.0452771969, 0.237235546, 0.103640534, 0.087274082, 0.0690394789], [0.0721734539, 0.408890486, 0.0368625931, 0.0213344339, 0.0710545108, 0.170450911, 0.0392400287, 0.0956142917, 0.0843793228]]> : tensor<4x9xf32>
    return %cst : tensor<4x9xf32>
  }
  func.func private @softmax_rows(%arg0: tensor<4x9xf32>) -> (tensor<4x9xf32>) {
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.maximum across dimensions = [1] : (tensor<4x9xf32>, tensor<f32>) -> tensor<4xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %2 = stablehlo.maximum %1, %0 : tensor<4xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<4xf32>) -> tensor<4x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x9xf32>
    %5 = stablehlo.subtract %arg0, %4 : tensor<4x9xf32>
    %6 = stablehlo.exponential %5 : tensor<4x9xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.reduce(%6 init: %cst_1) applies stablehlo.add across dimensions = [1] : (tensor<4x9xf32>, tensor<f32>) -> tensor<4xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0] : (tensor<4xf32>) -> tensor<4x1xf32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x9xf32>
    %10 = stablehlo.divide %6, %9 : tensor<4x9xf32>
    return %10 : tensor<4x9xf32>
  }
}
