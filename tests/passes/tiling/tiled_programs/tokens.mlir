func.func public @main(%x: tensor<3xf32> {mhlo.layout_mode = "{0:T(4)}"}) -> (tensor<3xf32> {mhlo.layout_mode = "{0:T(4)}"}) {
  %t = stablehlo.after_all : !stablehlo.token
  %b:2 = "stablehlo.optimization_barrier"(%x, %t) {xla_shape = "(f32[3]{0:T(4)}, token[])"} : (tensor<3xf32>, !stablehlo.token) -> (tensor<3xf32>, !stablehlo.token)
  return %b#0 : tensor<3xf32>
}
