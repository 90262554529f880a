module @nibble_arithmetic {
  func.func public @main() -> (tensor<5x9xi8>, tensor<5x9xi4>, tensor<9x5xi4>) {
    %in:2 = call @inputs() : () -> (tensor<5x9xi4>, tensor<5x9xi4>)
    %want:3 = call @expected() : () -> (tensor<5x9xi8>, tensor<5x9xi4>, tensor<9x5xi4>)
    %got:3 = call @nibble_arithmetic(%in#0, %in#1) : (tensor<5x9xi4>, tensor<5x9xi4>) -> (tensor<5x9xi8>, tensor<5x9xi4>, tensor<9x5xi4>)
    stablehlo.custom_call @check.expect_eq(%got#0, %want#0) {has_side_effect = true} : (tensor<5x9xi8>, tensor<5x9xi8>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#1, %want#1) {has_side_effect = true} : (tensor<5x9xi4>, tensor<5x9xi4>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#2, %want#2) {has_side_effect = true} : (tensor<9x5xi4>, tensor<9x5xi4>) -> ()
    return %got#0, %got#1, %got#2 : tensor<5x9xi8>, tensor<5x9xi4>, tensor<9x5xi4>
  }
  func.func private @inputs() -> (tensor<5x9xi4>, tensor<5x9xi4>) {
    %c = stablehlo.constant dense<[[6, 1, 0, -7, -6, -8, -3, -2, 1], [3, 7, -1, 5, -3, -5, 3, -2, 6], [3, -6, -3, 6, -3, -6, -4, -1, -6], [-6, -4, -5, 3, -1, -7, 1, -1, -6], [-6, -2, 4, -3, 5, 0, -4, 7, 6]]> : tensor<5x9xi4>
    %c_0 = stablehlo.constant dense<[[-1, 2, -8, -1, 5, -4, -5, 4, 7], [5, -7, -7, -1, 2, 1, -6, 3, 5], [-7, -2, -8, 7, 5, -6, 7, -4, 4], [1, -3, 3, -8, -8, -7, 1, 3, -8], [1, -3, 7, -1, -2, 7, -6, -1, 0]]> : tensor<5x9xi4>
    return %c, %c_0 : tensor<5x9xi4>, tensor<5x9xi4>
  }
  func.func private @expected() -> (tensor<5x9xi8>, tensor<5x9xi4>, tensor<9x5xi4>) {
    %c = stablehlo.constant dense<[[-6, 2, 0, 7, -30, 32, 15, -8, 7], [15, -49, 7, -5, -6, -5, -18, -6, 30], [-21, 12, 24, 42, -15, 36, -28, 4, -24], [-6, 12, -15, -24, 8, 49, 1, -3, 48], [-6, 6, 28, 3, -10, 0, 24, -7, 0]]> : tensor<5x9xi8>
    %c_0 = stablehlo.constant dense<[[6, 2, 0, -1, 5, -4, -3, 4, 7], [5, 7, -1, 5, 2, 1, 3, 3, 6], [3, -2, -3, 7, 5, -6, 7, -1, 4], [1, -3, 3, 3, -1, -7, 1, 3, -6], [1, -2, 7, -1, 5, 7, -4, 7, 6]]> : tensor<5x9xi4>
    %c_1 = stablehlo.constant dense<[[6, 3, 3, -6, -6], [1, 7, -6, -4, -2], [0, -1, -3, -5, 4], [-7, 5, 6, 3, -3], [-6, -3, -3, -1, 5], [-8, -5, -6, -7, 0], [-3, 3, -4, 1, -4], [-2, -2, -1, -1, 7], [1, 6, -6, -6, 6]]> : tensor<9x5xi4>
    return %c, %c_0, %c_1 : tensor<5x9xi8>, tensor<5x9xi4>, tensor<9x5xi4>
  }
  func.func private @nibble_arithmetic(%arg0: tensor<5x9xi4>, %arg1: tensor<5x9xi4>) -> (tensor<5x9xi8>, tensor<5x9xi4>, tensor<9x5xi4>) {
    %0 = stablehlo.convert %arg0 : (tensor<5x9xi4>) -> tensor<5x9xi8>
    %1 = stablehlo.convert %arg1 : (tensor<5x9xi4>) -> tensor<5x9xi8>
    %2 = stablehlo.multiply %0, %1 : tensor<5x9xi8>
    %3 = stablehlo.maximum %arg0, %arg1 : tensor<5x9xi4>
    %4 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<5x9xi4>) -> tensor<9x5xi4>
    return %2, %3, %4 : tensor<5x9xi8>, tensor<5x9xi4>, tensor<9x5xi4>
  }
}
