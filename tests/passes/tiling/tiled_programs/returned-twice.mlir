func.func public @main(%x: tensor<3x5xf32> {mhlo.layout_mode = "{1,0:T(2,2)}", tf.aliasing_output = 0 : i32}, %d: tensor<4xf32> {jax.buffer_donor = true, mhlo.layout_mode = "{0:T(8)}"}) -> (tensor<3x5xf32> {mhlo.layout_mode = "{1,0:T(2,2)}"}, tensor<3x5xf32> {mhlo.layout_mode = "{1,0:T(2,2)}"}, tensor<3x5xf32> {mhlo.layout_mode = "{1,0:T(2,2)}"}, tensor<3x5xf32> {mhlo.layout_mode = "{1,0:T(2,2)}"}) {
  %n = stablehlo.negate %x {xla_shape = "f32[3,5]{1,0:T(2,2)}"} : tensor<3x5xf32>
  return %n, %n, %n, %x : tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5xf32>
}
