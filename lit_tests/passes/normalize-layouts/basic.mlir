// RUN: relayout opt %s -p normalize-layouts --strip-comments | filecheck %s

// CHECK-LABEL: func.func public @main
// CHECK-SAME: (%arg0: tensor<5x4xf32> {mhlo.layout_mode = "{0,1:T(2,4)}"}, %arg1: tensor<i32>) -> (tensor<5x4xf32> {mhlo.layout_mode = "{0,1:T(2,4)}"})
func.func public @main(%arg0: tensor<5x4xf32> {mhlo.layout_mode = "{0,1:T(2,4)}"}, %arg1: tensor<i32>) -> (tensor<5x4xf32> {mhlo.layout_mode = "{0,1:T(2,4)}"}) {
  // CHECK: [[P:%.*]] = stablehlo.transpose %arg0, dims = [1, 0] {{.*}}xla_shape = "f32[4,5]{1,0:T(2,4)}"} : (tensor<5x4xf32>) -> tensor<4x5xf32>
  // CHECK: [[A:%.*]] = stablehlo.abs [[P]] {{.*}} : tensor<4x5xf32>
  %0 = stablehlo.abs %arg0 {xla_shape = "f32[5,4]{0,1:T(2,4)}"} : tensor<5x4xf32>
  %1 = stablehlo.constant dense<0> : tensor<i32>
  // CHECK: [[S:%.*]] = stablehlo.dynamic_slice [[A]], {{.*}}, %arg1, sizes = [2, 5] : (tensor<4x5xf32>, tensor<i32>, tensor<i32>) -> tensor<2x5xf32>
  %2 = stablehlo.dynamic_slice %0, %arg1, %1, sizes = [5, 2] {xla_shape = "f32[5,2]{0,1}"} : (tensor<5x4xf32>, tensor<i32>, tensor<i32>) -> tensor<5x2xf32>
  // CHECK: [[C:%.*]] = stablehlo.concatenate [[S]], [[S]], dim = 0 : (tensor<2x5xf32>, tensor<2x5xf32>) -> tensor<4x5xf32>
  %3 = stablehlo.concatenate %2, %2, dim = 1 {xla_shape = "f32[5,4]{0,1}"} : (tensor<5x2xf32>, tensor<5x2xf32>) -> tensor<5x4xf32>
  // CHECK: [[N:%.*]] = stablehlo.add [[A]], [[C]] {{.*}} : tensor<4x5xf32>
  %4 = stablehlo.add %0, %3 {xla_shape = "f32[5,4]{0,1:T(2,4)}"} : tensor<5x4xf32>
  // CHECK: [[L:%.*]] = stablehlo.transpose [[N]], dims = [1, 0] {{.*}}xla_shape = "f32[5,4]{0,1:T(2,4)}"
  // CHECK: return [[L]]
  return %4 : tensor<5x4xf32>
}
