module @m {
  func.func public @main(%arg0: tensor<3x5xf32> {mhlo.layout_mode = "{1,0:T(2,2)}"}) -> (tensor<3x5xf32> {mhlo.layout_mode = "{1,0:T(2,2)}"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %k = stablehlo.negate %arg0 {xla_shape = "f32[3,5]{0,1:T(4,2)}"} : tensor<3x5xf32>
    %0:2 = stablehlo.while(%i = %c, %x = %arg0) : tensor<i32>, tensor<3x5xf32> attributes {xla_shape = "(s32[]{:T(128)}, f32[3,5]{1,0:T(2,2)})"}
    cond {
      %n = stablehlo.constant {xla_shape = "s32[]{:T(128)}"} dense<3> : tensor<i32>
      %p = stablehlo.compare LT, %i, %n {xla_shape = "pred[]{:T(512)}"} : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %j = stablehlo.add %i, %one {xla_shape = "s32[]{:T(128)}"} : tensor<i32>
      %y = stablehlo.add %x, %k {xla_shape = "f32[3,5]{1,0:T(2,2)}"} : tensor<3x5xf32>
      stablehlo.return %j, %y : tensor<i32>, tensor<3x5xf32>
    }
    return %0#1 : tensor<3x5xf32>
  }
}
