module @byte_logic {
  func.func public @main() -> (tensor<6xui8>, tensor<6xui8>, tensor<6xui8>, tensor<6xui8>, tensor<6xi32>) {
    %in:2 = call @inputs() : () -> (tensor<6xui8>, tensor<6xui8>)
    %want:5 = call @expected() : () -> (tensor<6xui8>, tensor<6xui8>, tensor<6xui8>, tensor<6xui8>, tensor<6xi32>)
    %got:5 = call @byte_logic(%in#0, %in#1) : (tensor<6xui8>, tensor<6xui8>) -> (tensor<6xui8>, tensor<6xui8>, tensor<6xui8>, tensor<6xui8>, tensor<6xi32>)
    stablehlo.custom_call @check.expect_eq(%got#0, %want#0) {has_side_effect = true} : (tensor<6xui8>, tensor<6xui8>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#1, %want#1) {has_side_effect = true} : (tensor<6xui8>, tensor<6xui8>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#2, %want#2) {has_side_effect = true} : (tensor<6xui8>, tensor<6xui8>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#3, %want#3) {has_side_effect = true} : (tensor<6xui8>, tensor<6xui8>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#4, %want#4) {has_side_effect = true} : (tensor<6xi32>, tensor<6xi32>) -> ()
    return %got#0, %got#1, %got#2, %got#3, %got#4 : tensor<6xui8>, tensor<6xui8>, tensor<6xui8>, tensor<6xui8>, tensor<6xi32>
  }
  func.func private @inputs() -> (tensor<6xui8>, tensor<6xui8>) {
    %c = stablehlo.constant dense<[4, 45, 81, 14, 76, 167]> : tensor<6xui8>
    %c_0 = stablehlo.constant dense<[83, 215, 125, 80, 162, 240]> : tensor<6xui8>
    return %c, %c_0 : tensor<6xui8>, tensor<6xui8>
  }
  func.func private @expected() -> (tensor<6xui8>, tensor<6xui8>, tensor<6xui8>, tensor<6xui8>, tensor<6xi32>) {
    %c = stablehlo.constant dense<[0, 5, 81, 0, 0, 160]> : tensor<6xui8>
    %c_0 = stablehlo.constant dense<[168, 5, 211, 161, 17, 168]> : tensor<6xui8>
    %c_1 = stablehlo.constant dense<[0, 5, 10, 1, 9, 20]> : tensor<6xui8>
    %c_2 = stablehlo.constant dense<[1, 4, 3, 3, 3, 5]> : tensor<6xui8>
    %c_3 = stablehlo.constant dense<[332, 9675, 10125, 1120, 12312, 40080]> : tensor<6xi32>
    return %c, %c_0, %c_1, %c_2, %c_3 : tensor<6xui8>, tensor<6xui8>, tensor<6xui8>, tensor<6xui8>, tensor<6xi32>
  }
  func.func private @byte_logic(%arg0: tensor<6xui8>, %arg1: tensor<6xui8>) -> (tensor<6xui8>, tensor<6xui8>, tensor<6xui8>, tensor<6xui8>, tensor<6xi32>) {
    %0 = stablehlo.and %arg0, %arg1 : tensor<6xui8>
    %1 = stablehlo.not %arg1 : tensor<6xui8>
    %2 = stablehlo.xor %arg0, %1 : tensor<6xui8>
    %c = stablehlo.constant dense<3> : tensor<ui8>
    %3 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<ui8>) -> tensor<6xui8>
    %4 = stablehlo.shift_right_logical %arg0, %3 : tensor<6xui8>
    %5 = stablehlo.popcnt %arg0 : tensor<6xui8>
    %6 = stablehlo.convert %arg0 : (tensor<6xui8>) -> tensor<6xi32>
    %7 = stablehlo.convert %arg1 : (tensor<6xui8>) -> tensor<6xi32>
    %8 = stablehlo.multiply %6, %7 : tensor<6xi32>
    return %0, %2, %4, %5, %8 : tensor<6xui8>, tensor<6xui8>, tensor<6xui8>, tensor<6xui8>, tensor<6xi32>
  }
}
