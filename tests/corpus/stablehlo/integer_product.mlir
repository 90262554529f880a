module @integer_product {
  func.func public @main() -> tensor<4x5xi32> {
    %in:2 = call @inputs() : () -> (tensor<4x8xi8>, tensor<8x5xi8>)
    %want = call @expected() : () -> (tensor<4x5xi32>)
    %got = call @integer_product(%in#0, %in#1) : (tensor<4x8xi8>, tensor<8x5xi8>) -> (tensor<4x5xi32>)
    stablehlo.custom_call @check.expect_eq(%got, %want) {has_side_effect = true} : (tensor<4x5xi32>, tensor<4x5xi32>) -> ()
    return %got : tensor<4x5xi32>
  }
  func.func private @inputs() -> (tensor<4x8xi8>, tensor<8x5xi8>) {
    %c = stablehlo.constant dense<[[44, -38, 89, -75, 2, -8, 95, -29], [59, -36, 59, 2, -124, 108, 101, -8], [-14, -4, -110, 86, 11, 100, 81, 104], [16, -117, -24, -12, -19, -124, -71, -28]]> : tensor<4x8xi8>
    %c_0 = stablehlo.constant dense<[[114, 47, 106, -87, 83], [1, 51, 122, -118, 99], [-122, -75, 102, 127, 114], [74, 48, 34, 82, 70], [22, -14, -62, 100, -98], [55, -10, -53, -80, -107], [-93, -35, -42, -35, -22], [108, 13, -107, 119, 109]]> : tensor<8x5xi8>
    return %c, %c_0 : tensor<4x8xi8>, tensor<8x5xi8>
  }
  func.func private @expected() -> (tensor<4x5xi32>) {
    %c = stablehlo.constant dense<[[-23793, -13795, 5969, -127, 195], [-7405, -6375, 6526, -18755, 5701], [27625, 8879, -30780, -2587, -10302], [88, -364, -1706, 15555, -191]]> : tensor<4x5xi32>
    return %c : tensor<4x5xi32>
  }
  func.func private @integer_product(%arg0: tensor<4x8xi8>, %arg1: tensor<8x5xi8>) -> (tensor<4x5xi32>) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x8xi8>, tensor<8x5xi8>) -> tensor<4x5xi32>
    return %0 : tensor<4x5xi32>
  }
}
