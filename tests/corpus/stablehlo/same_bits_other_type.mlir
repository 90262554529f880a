module @same_bits_other_type {
  func.func public @main() -> (tensor<4x6xi32>, tensor<6x4xui8>, tensor<6xui32>) {
    %in:2 = call @inputs() : () -> (tensor<4x6xf32>, tensor<6xui32>)
    %want:3 = call @expected() : () -> (tensor<4x6xi32>, tensor<6x4xui8>, tensor<6xui32>)
    %got:3 = call @same_bits_other_type(%in#0, %in#1) : (tensor<4x6xf32>, tensor<6xui32>) -> (tensor<4x6xi32>, tensor<6x4xui8>, tensor<6xui32>)
    stablehlo.custom_call @check.expect_eq(%got#0, %want#0) {has_side_effect = true} : (tensor<4x6xi32>, tensor<4x6xi32>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#1, %want#1) {has_side_effect = true} : (tensor<6x4xui8>, tensor<6x4xui8>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#2, %want#2) {has_side_effect = true} : (tensor<6xui32>, tensor<6xui32>) -> ()
    return %got#0, %got#1, %got#2 : tensor<4x6xi32>, tensor<6x4xui8>, tensor<6xui32>
  }
  func.func private @inputs() -> (tensor<4x6xf32>, tensor<6xui32>) {
    %cst = stablehlo.constant dense<[[-4.687500e-01, -1.718750e-01, -5.468750e-01, -9.062500e-01, -2.812500e-01, -4.687500e-02], [8.125000e-01, 4.062500e-01, -1.390625, -2.656250e-01, 6.718750e-01, -7.812500e-01], [-6.250000e-02, 4.375000e-01, 3.437500e-01, -8.437500e-01, -3.593750e-01, 1.718750e-01], [-1.828125, -4.375000e-01, -4.687500e-02, -2.281250e+00, 1.609375, -1.078125]]> : tensor<4x6xf32>
    %c = stablehlo.constant dense<[2349010817, 1229702099, 1448169940, 2313730488, 993729852, 1038021218]> : tensor<6xui32>
    return %cst, %c : tensor<4x6xf32>, tensor<6xui32>
  }
  func.func private @expected() -> (tensor<4x6xi32>, tensor<6x4xui8>, tensor<6xui32>) {
    %c = stablehlo.constant dense<[[-1091567616, -1104150528, -1089732608, -1083703296, -1097859072, -1119879168], [1062207488, 1053818880, -1078853632, -1098383360, 1059848192, -1085800448], [-1115684864, 1054867456, 1051721728, -1084751872, -1095237632, 1043333120], [-1075183616, -1092616192, -1119879168, -1072562176, 1070465024, -1081475072]]> : tensor<4x6xi32>
    %c_0 = stablehlo.constant dense<[[129, 15, 3, 140], [211, 195, 75, 73], [212, 81, 81, 86], [184, 185, 232, 137], [60, 29, 59, 59], [98, 242, 222, 61]]> : tensor<6x4xui8>
    %c_1 = stablehlo.constant dense<[1038021218, 993729852, 2313730488, 1448169940, 1229702099, 2349010817]> : tensor<6xui32>
    return %c, %c_0, %c_1 : tensor<4x6xi32>, tensor<6x4xui8>, tensor<6xui32>
  }
  func.func private @same_bits_other_type(%arg0: tensor<4x6xf32>, %arg1: tensor<6xui32>) -> (tensor<4x6xi32>, tensor<6x4xui8>, tensor<6xui32>) {
    %0 = stablehlo.bitcast_convert %arg0 : (tensor<4x6xf32>) -> tensor<4x6xi32>
    %1 = stablehlo.bitcast_convert %arg1 : (tensor<6xui32>) -> tensor<6x4xui8>
    %2 = stablehlo.reverse %arg1, dims = [0] : tensor<6xui32>
    return %0, %1, %2 : tensor<4x6xi32>, tensor<6x4xui8>, tensor<6xui32>
  }
}
