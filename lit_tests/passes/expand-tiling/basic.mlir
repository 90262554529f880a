// RUN: relayout opt %s -p expand-tiling --strip-comments | filecheck %s
// RUN: relayout opt %s -p 'expand-tiling{interface=physical}' --strip-comments | filecheck %s --check-prefix=PHYSICAL

// CHECK-LABEL: func.func public @main(%arg0: tensor<3x5xf32>) -> tensor<3x5xf32>
// PHYSICAL: func.func public @main(%arg0: tensor<2x3x2x2xf32>) -> tensor<2x3x2x2xf32>
func.func public @main(%arg0: tensor<3x5xf32> {mhlo.layout_mode = "{1,0:T(2,2)}"}) -> (tensor<3x5xf32> {mhlo.layout_mode = "{1,0:T(2,2)}"}) {
  // CHECK: [[PAD:%.*]] = stablehlo.pad %arg0
  // CHECK: [[SPLIT:%.*]] = stablehlo.reshape [[PAD]] : (tensor<4x6xf32>) -> tensor<2x2x3x2xf32>
  // CHECK: [[PHYS:%.*]] = stablehlo.transpose [[SPLIT]], dims = [0, 2, 1, 3]
  // CHECK: [[BACK:%.*]] = stablehlo.transpose [[PHYS]], dims = [0, 2, 1, 3]
  // CHECK: [[MERGE:%.*]] = stablehlo.reshape [[BACK]]
  // CHECK: [[READ:%.*]] = stablehlo.slice [[MERGE]] [0:3, 0:5]
  // CHECK: stablehlo.negate [[READ]] : tensor<3x5xf32>
  // PHYSICAL: stablehlo.transpose %arg0, dims = [0, 2, 1, 3]
  // PHYSICAL: stablehlo.negate
  // PHYSICAL: [[OUT:%.*]] = stablehlo.transpose {{.*}} -> tensor<2x3x2x2xf32>
  // PHYSICAL: return [[OUT]]
  %0 = stablehlo.negate %arg0 : tensor<3x5xf32>
  return %0 : tensor<3x5xf32>
}
