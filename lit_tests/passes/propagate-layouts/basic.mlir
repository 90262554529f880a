// RUN: relayout opt %s -p propagate-layouts --strip-comments | filecheck %s
// RUN: relayout opt %s -p 'propagate-layouts{direction=backward}' --strip-comments | filecheck %s --check-prefix=BACKWARD

// CHECK-LABEL: func.func public @main
// CHECK-SAME: %arg1: tensor<4x6xf32> {{{.*}}mhlo.layout_mode = "{0,1:T(8,128)}"
// CHECK-SAME: -> (tensor<6x4xf32> {mhlo.layout_mode = "{1,0:T(8,128)}"}
// BACKWARD-LABEL: func.func public @main
// BACKWARD-SAME: %arg1: tensor<4x6xf32>) -> tensor<6x4xf32>
func.func public @main(%arg0: tensor<4x6xf32> {mhlo.layout_mode = "{0,1:T(8,128)}"}, %arg1: tensor<4x6xf32>) -> tensor<6x4xf32> {
  %c = stablehlo.constant dense<0> : tensor<i32>
  // CHECK: [[LOOP:%.*]]:2 = stablehlo.while
  // CHECK-SAME: xla_shape = "(s32[], f32[4,6]{0,1:T(8,128)})"
  %0:2 = stablehlo.while(%i = %c, %x = %arg0) : tensor<i32>, tensor<4x6xf32>
  cond {
    %end = stablehlo.constant dense<3> : tensor<i32>
    %less = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %less : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %next = stablehlo.add %i, %one : tensor<i32>
    // CHECK: stablehlo.negate {{.*}}xla_shape = "f32[4,6]{0,1:T(8,128)}"
    %y = stablehlo.negate %x : tensor<4x6xf32>
    stablehlo.return %next, %y : tensor<i32>, tensor<4x6xf32>
  }
  // CHECK: stablehlo.add [[LOOP]]#1, %arg1 {{.*}}xla_shape = "f32[4,6]{0,1:T(8,128)}"
  %1 = stablehlo.add %0#1, %arg1 : tensor<4x6xf32>
  // CHECK: stablehlo.transpose {{.*}}xla_shape = "f32[6,4]{1,0:T(8,128)}"
  %2 = stablehlo.transpose %1, dims = [1, 0] : (tensor<4x6xf32>) -> tensor<6x4xf32>
  return %2 : tensor<6x4xf32>
}
