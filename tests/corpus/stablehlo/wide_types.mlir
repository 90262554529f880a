module @wide_types {
  func.func public @main() -> (tensor<3x5xi64>, tensor<3x5xui8>, tensor<3x5xf64>, tensor<3x5xf32>) {
    %in:2 = call @inputs() : () -> (tensor<3x5xi64>, tensor<3x5xf64>)
    %want:4 = call @expected() : () -> (tensor<3x5xi64>, tensor<3x5xui8>, tensor<3x5xf64>, tensor<3x5xf32>)
    %got:4 = call @wide_types(%in#0, %in#1) : (tensor<3x5xi64>, tensor<3x5xf64>) -> (tensor<3x5xi64>, tensor<3x5xui8>, tensor<3x5xf64>, tensor<3x5xf32>)
    stablehlo.custom_call @check.expect_eq(%got#0, %want#0) {has_side_effect = true} : (tensor<3x5xi64>, tensor<3x5xi64>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#1, %want#1) {has_side_effect = true} : (tensor<3x5xui8>, tensor<3x5xui8>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#2, %want#2) {has_side_effect = true} : (tensor<3x5xf64>, tensor<3x5xf64>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#3, %want#3) {has_side_effect = true} : (tensor<3x5xf32>, tensor<3x5xf32>) -> ()
    return %got#0, %got#1, %got#2, %got#3 : tensor<3x5xi64>, tensor<3x5xui8>, tensor<3x5xf64>, tensor<3x5xf32>
  }
  func.func private @inputs() -> (tensor<3x5xi64>, tensor<3x5xf64>) {
    %c = stablehlo.constant dense<[[-4119074472896741779, 5659919389412414401, 5252387364322039242, -983740975625937943, -3323630473824808720], [3819947034421792815, 8047817549549250863, -7189283044744955179, -3903928967124882905, 9088682393050581310], [7145515705866069353, -2638356050398133130, -5734993704974932392, -4196005576498381600, -8355259235505810738]]> : tensor<3x5xi64>
    %cst = stablehlo.constant dense<[[9.062500e-01, 4.687500e-02, 9.531250e-01, -1.250000e-01, -6.250000e-01], [2.656250e-01, 8.125000e-01, 6.406250e-01, -8.906250e-01, -1.812500e+00], [-9.062500e-01, 1.218750e+00, 1.093750e+00, 6.875000e-01, 1.250000e-01]]> : tensor<3x5xf64>
    return %c, %cst : tensor<3x5xi64>, tensor<3x5xf64>
  }
  func.func private @expected() -> (tensor<3x5xi64>, tensor<3x5xui8>, tensor<3x5xf64>, tensor<3x5xf32>) {
    %c = stablehlo.constant dense<[[-1373024824298913927, 1886639796470804800, 1750795788107346414, -327913658541979315, -1107876824608269574], [1273315678140597605, 2682605849849750287, -2396427681581651727, -1301309655708294302, 3029560797683527103], [2381838568622023117, -879452016799377710, -1911664568324977464, -1398668525499460534, -2785086411835270246]]> : tensor<3x5xi64>
    %c_0 = stablehlo.constant dense<[[109, 193, 202, 233, 240], [47, 47, 213, 39, 62], [105, 118, 88, 224, 206]]> : tensor<3x5xui8>
    %cst = stablehlo.constant dense<[[1.453125, 1.0234375, 1.4765625, 9.375000e-01, 6.875000e-01], [1.1328125, 1.406250e+00, 1.3203125, 0.5546875, 9.375000e-02], [5.468750e-01, 1.609375, 1.546875, 1.343750e+00, 1.062500e+00]]> : tensor<3x5xf64>
    %cst_1 = stablehlo.constant dense<[[9.062500e-01, 4.687500e-02, 9.531250e-01, -1.250000e-01, -6.250000e-01], [2.656250e-01, 8.125000e-01, 6.406250e-01, -8.906250e-01, -1.812500e+00], [-9.062500e-01, 1.218750e+00, 1.093750e+00, 6.875000e-01, 1.250000e-01]]> : tensor<3x5xf32>
    return %c, %c_0, %cst, %cst_1 : tensor<3x5xi64>, tensor<3x5xui8>, tensor<3x5xf64>, tensor<3x5xf32>
  }
  func.func private @wide_types(%arg0: tensor<3x5xi64>, %arg1: tensor<3x5xf64>) -> (tensor<3x5xi64>, tensor<3x5xui8>, tensor<3x5xf64>, tensor<3x5xf32>) {
    %c = stablehlo.constant dense<3> : tensor<i64>
    %0 = call @floor_divide(%arg0, %c) : (tensor<3x5xi64>, tensor<i64>) -> tensor<3x5xi64>
    %1 = stablehlo.convert %arg0 : (tensor<3x5xi64>) -> tensor<3x5xui8>
    %cst = stablehlo.constant dense<5.000000e-01> : tensor<f64>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<3x5xf64>
    %3 = stablehlo.multiply %arg1, %2 : tensor<3x5xf64>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %4 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f64>) -> tensor<3x5xf64>
    %5 = stablehlo.add %3, %4 : tensor<3x5xf64>
    %6 = stablehlo.convert %arg1 : (tensor<3x5xf64>) -> tensor<3x5xf32>
    return %0, %1, %5, %6 : tensor<3x5xi64>, tensor<3x5xui8>, tensor<3x5xf64>, tensor<3x5xf32>
  }
  func.func private @floor_divide(%arg0: tensor<3x5xi64>, %arg1: tensor<i64>) -> tensor<3x5xi64> {
    %0 = stablehlo.convert %arg1 : tensor<i64>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<i64>) -> tensor<3x5xi64>
    %2 = stablehlo.divide %arg0, %1 : tensor<3x5xi64>
    %3 = stablehlo.sign %arg0 : tensor<3x5xi64>
    %4 = stablehlo.sign %0 : tensor<i64>
    %5 = stablehlo.broadcast_in_dim %4, dims = [] : (tensor<i64>) -> tensor<3x5xi64>
    %6 = stablehlo.compare NE, %3, %5, SIGNED : (tensor<3x5xi64>, tensor<3x5xi64>) -> tensor<3x5xi1>
    %7 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<i64>) -> tensor<3x5xi64>
    %8 = stablehlo.remainder %arg0, %7 : tensor<3x5xi64>
    %c = stablehlo.constant dense<0> : tensor<i64>
    %9 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i64>) -> tensor<3x5xi64>
    %10 = stablehlo.compare NE, %8, %9, SIGNED : (tensor<3x5xi64>, tensor<3x5xi64>) -> tensor<3x5xi1>
    %11 = stablehlo.and %6, %10 : tensor<3x5xi1>
    %c_0 = stablehlo.constant dense<1> : tensor<i64>
    %12 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i64>) -> tensor<3x5xi64>
    %13 = stablehlo.subtract %2, %12 : tensor<3x5xi64>
    %14 = call @_where(%11, %13, %2) : (tensor<3x5xi1>, tensor<3x5xi64>, tensor<3x5xi64>) -> tensor<3x5xi64>
    return %14 : tensor<3x5xi64>
  }
  func.func private @_where(%arg0: tensor<3x5xi1>, %arg1: tensor<3x5xi64>, %arg2: tensor<3x5xi64>) -> tensor<3x5xi64> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<3x5xi1>, tensor<3x5xi64>
    return %0 : tensor<3x5xi64>
  }
}
