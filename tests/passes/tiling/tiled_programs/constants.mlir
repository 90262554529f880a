func.func public @main(%x: tensor<2x3xf32> {mhlo.layout_mode = "{1,0:T(2,2)}"}) -> (tensor<2x3xf32> {mhlo.layout_mode = "{1,0:T(2,2)}"}, tensor<2x3xf32> {mhlo.layout_mode = "{1,0:T(2,2)}"}, tensor<3xi1> {mhlo.layout_mode = "{0:T(4)}"}) {
  %c = stablehlo.constant {xla_shape = "f32[2,3]{1,0:T(2,2)}"} dense<[[1.0,2.0,3.0],[4.0,5.0,6.0]]> : tensor<2x3xf32>
  %s = stablehlo.constant {xla_shape = "f32[2,3]{1,0:T(2,2)}"} dense<7.0> : tensor<2x3xf32>
  %b = stablehlo.constant {xla_shape = "pred[3]{0:T(4)}"} dense<[true,false,true]> : tensor<3xi1>
  %a = stablehlo.add %x, %c {xla_shape = "f32[2,3]{1,0:T(2,2)}"} : tensor<2x3xf32>
  %d = stablehlo.add %a, %s {xla_shape = "f32[2,3]{1,0:T(2,2)}"} : tensor<2x3xf32>
  return %d, %c, %b : tensor<2x3xf32>, tensor<2x3xf32>, tensor<3xi1>
}
