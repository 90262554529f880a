func.func public @main(%arg0: tensor<i1> {mhlo.layout_mode = "{:T(512)}"}, %arg1: tensor<3x5xf32> {mhlo.layout_mode = "{1,0:T(2,2)}"}) -> (tensor<3x5xf32> {mhlo.layout_mode = "{0,1:T(2,2)}"}) {
  %0 = "stablehlo.if"(%arg0) ({
    %a = stablehlo.negate %arg1 {xla_shape = "f32[3,5]{1,0:T(2,2)}"} : tensor<3x5xf32>
    stablehlo.return %a : tensor<3x5xf32>
  }, {
    stablehlo.return %arg1 : tensor<3x5xf32>
  }) {xla_shape = "f32[3,5]{0,1:T(2,2)}"} : (tensor<i1>) -> tensor<3x5xf32>
  return %0 : tensor<3x5xf32>
}
