func.func public @main(%x: tensor<3xf32> {mhlo.layout_mode = "{0:T(4)}"}) -> (tensor<3xf32> {mhlo.layout_mode = "{0:T(4)}"}) {
  %u = stablehlo.tuple %x {xla_shape = "(f32[3]{0:T(4)})"} : tuple<tensor<3xf32>>
  %t = stablehlo.tuple %x, %u {xla_shape = "(f32[3]{0:T(4)}, (f32[3]{0:T(4)}))"} : tuple<tensor<3xf32>, tuple<tensor<3xf32>>>
  %g = stablehlo.get_tuple_element %t[0] {xla_shape = "f32[3]{0:T(4)}"} : (tuple<tensor<3xf32>, tuple<tensor<3xf32>>>) -> tensor<3xf32>
  return %g : tensor<3xf32>
}
