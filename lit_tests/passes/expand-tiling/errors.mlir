// RUN: not relayout opt %s -p 'expand-tiling{interface=physical}' --allow-unverified 2>&1 | filecheck %s

// CHECK: error: parameter 0 (f32[3,5]{1,0:T(2,2)}) is aliased to a result (f32[3,5]{1,0:T(4,2)})
func.func public @main(%arg0: tensor<3x5xf32> {mhlo.layout_mode = "{1,0:T(2,2)}", tf.aliasing_output = 0 : i32}) -> (tensor<3x5xf32> {mhlo.layout_mode = "{1,0:T(4,2)}"}) {
  %0 = stablehlo.negate %arg0 : tensor<3x5xf32>
  return %0 : tensor<3x5xf32>
}
