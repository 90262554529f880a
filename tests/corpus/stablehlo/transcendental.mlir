module @transcendental {
  func.func public @main() -> (tensor<3x8xf32>, tensor<3x8xf32>, tensor<3x8xf32>, tensor<3x8xf32>, tensor<3x8xf32>) {
    %in = call @inputs() : () -> (tensor<3x8xf32>)
    %want:5 = call @expected() : () -> (tensor<3x8xf32>, tensor<3x8xf32>, tensor<3x8xf32>, tensor<3x8xf32>, tensor<3x8xf32>)
    %got:5 = call @transcendental(%in) : (tensor<3x8xf32>) -> (tensor<3x8xf32>, tensor<3x8xf32>, tensor<3x8xf32>, tensor<3x8xf32>, tensor<3x8xf32>)
    stablehlo.custom_call @check.expect_close(%got#0, %want#0) {has_side_effect = true} : (tensor<3x8xf32>, tensor<3x8xf32>) -> ()
    stablehlo.custom_call @check.expect_close(%got#1, %want#1) {has_side_effect = true} : (tensor<3x8xf32>, tensor<3x8xf32>) -> ()
    stablehlo.custom_call @check.expect_close(%got#2, %want#2) {has_side_effect = true} : (tensor<3x8xf32>, tensor<3x8xf32>) -> ()
    stablehlo.custom_call @check.expect_close(%got#3, %want#3) {has_side_effect = true} : (tensor<3x8xf32>, tensor<3x8xf32>) -> ()
    stablehlo.custom_call @check.expect_close(%got#4, %want#4) {has_side_effect = true} : (tensor<3x8xf32>, tensor<3x8xf32>) -> ()
    return %got#0, %got#1, %got#2, %got#3, %got#4 : tensor<3x8xf32>, tensor<3x8xf32>, tensor<3x8xf32>, tensor<3x8xf32>, tensor<3x8xf32>
  }
  func.func private @inputs() -> (tensor<3x8xf32>) {
    %cst = stablehlo.constant dense<[[5.937500e-01, 1.906250e+00, 5.937500e-01, 1.578125, 8.593750e-01, 4.218750e-01, 2.312500e+00, 8.437500e-01], [5.468750e-01, 3.906250e-01, 1.953125, 2.656250e-01, 1.203125, 1.640625, 1.250000e+00, 4.062500e-01], [4.531250e-01, 8.125000e-01, 1.078125, 3.281250e-01, 2.671875, 1.578125, 9.531250e-01, 1.218750e+00]]> : tensor<3x8xf32>
    return %cst : tensor<3x8xf32>
  }
  func.func private @expected() -> (tensor<3x8xf32>, tensor<3x8xf32>, tensor<3x8xf32>, tensor<3x8xf32>, tensor<3x8xf32>) {
    %cst = stablehlo.constant dense<[[0.552252471, 0.148636729, 0.552252471, 0.206361666, 0.423426628, 6.558160e-01, 0.0990134105, 0.430094659], [0.578755617, 0.676633835, 0.141830161, 0.766726613, 0.300254464, 0.193858847, 0.286504805, 0.666143596], [0.635638654, 0.443747312, 0.340232849, 7.202730e-01, 6.912250e-02, 0.206361666, 0.385534346, 0.295599431]]> : tensor<3x8xf32>
    %cst_0 = stablehlo.constant dense<[[-0.521296918, 0.645137965, -0.521296918, 0.456237435, -0.151549906, -0.863046228, 0.838329195, -0.169899032], [-6.035350e-01, -0.940007269, 0.669430673, -1.32566977, 0.184922338, 0.495077252, 0.223143548, -0.900786519], [-0.791587233, -0.207639366, 0.0752234235, -1.11436057, 0.982780456, 0.456237435, -0.0480092205, 0.197825745]]> : tensor<3x8xf32>
    %cst_1 = stablehlo.constant dense<[[0.770551741, 1.38067007, 0.770551741, 1.25623441, 0.927024781, 6.495190e-01, 1.52069068, 0.918558657], [0.739509999, 6.250000e-01, 1.39754248, 0.515388191, 1.09687054, 1.28086889, 1.11803401, 0.63737744], [0.673145592, 0.90138781, 1.03832793, 5.728220e-01, 1.63458705, 1.25623441, 0.976281225, 1.103970e+00]]> : tensor<3x8xf32>
    %cst_2 = stablehlo.constant dense<[[0.53258729, 0.956769347, 0.53258729, 0.918308556, 0.695935547, 0.398508817, 0.980583071, 0.687790215], [0.498174429, 0.37189889, 0.960561692, 0.259549171, 0.834605336, 0.927559852, 0.848283648, 0.385283917], [0.424464375, 0.670967102, 0.79250276, 3.168350e-01, 0.990489661, 0.918308556, 0.741194606, 0.839285075]]> : tensor<3x8xf32>
    %cst_3 = stablehlo.constant dense<[[1.29777133, 0.72428596, 1.29777133, 0.796029746, 1.07871974, 1.53960073, 0.657595932, 1.08866215], [1.35224676, 1.600000e+00, 0.71554172, 1.94028497, 0.911684572, 0.780720055, 0.89442718, 1.56892908], [1.48556268, 1.10940039, 0.963086843, 1.74574316, 0.611775279, 0.796029746, 1.02429497, 0.905821621]]> : tensor<3x8xf32>
    return %cst, %cst_0, %cst_1, %cst_2, %cst_3 : tensor<3x8xf32>, tensor<3x8xf32>, tensor<3x8xf32>, tensor<3x8xf32>, tensor<3x8xf32>
  }
  func.func private @transcendental(%arg0: tensor<3x8xf32>) -> (tensor<3x8xf32>, tensor<3x8xf32>, tensor<3x8xf32>, tensor<3x8xf32>, tensor<3x8xf32>) {
    %0 = stablehlo.negate %arg0 : tensor<3x8xf32>
    %1 = stablehlo.exponential %0 : tensor<3x8xf32>
    %2 = stablehlo.log %arg0 : tensor<3x8xf32>
    %3 = stablehlo.sqrt %arg0 : tensor<3x8xf32>
    %4 = stablehlo.tanh %arg0 : tensor<3x8xf32>
    %5 = stablehlo.rsqrt %arg0 : tensor<3x8xf32>
    return %1, %2, %3, %4, %5 : tensor<3x8xf32>, tensor<3x8xf32>, tensor<3x8xf32>, tensor<3x8xf32>, tensor<3x8xf32>
  }
}
