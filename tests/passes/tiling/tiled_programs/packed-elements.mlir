func.func public @main(%x: tensor<3x5xi4> {mhlo.layout_mode = "{1,0:T(2,2)E(4)}"}, %y: tensor<2x8xui4> {mhlo.layout_mode = "{1,0:E(4)}"}, %z: tensor<3x5xi2> {mhlo.layout_mode = "{0,1:T(2,4)E(2)}"}, %w: tensor<3x6xf4E2M1FN> {mhlo.layout_mode = "{1,0:T(2,4)E(4)}"}, %v: tensor<i4> {mhlo.layout_mode = "{:T(2)E(4)}"}) -> (tensor<3x5xi4> {mhlo.layout_mode = "{1,0:T(2,2)E(4)}"}, tensor<2x8xui4> {mhlo.layout_mode = "{1,0:E(4)}"}, tensor<3x5xi2> {mhlo.layout_mode = "{0,1:T(2,4)E(2)}"}, tensor<3x6xf4E2M1FN> {mhlo.layout_mode = "{1,0:T(2,4)E(4)}"}, tensor<3x5xi32>, tensor<i4> {mhlo.layout_mode = "{:T(2)E(4)}"}) {
  %a = stablehlo.add %x, %x {xla_shape = "s4[3,5]{1,0:T(2,2)E(4)}"} : tensor<3x5xi4>
  %d = stablehlo.convert %a : (tensor<3x5xi4>) -> tensor<3x5xi32>
  return %a, %y, %z, %w, %d, %v : tensor<3x5xi4>, tensor<2x8xui4>, tensor<3x5xi2>, tensor<3x6xf4E2M1FN>, tensor<3x5xi32>, tensor<i4>
}
