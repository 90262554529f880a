// RUN: relayout opt %s -p 'narrow-padding{value=%0 dimension=0}' --strip-comments | filecheck %s
// RUN: relayout opt %s -p narrow-padding --strip-comments | filecheck %s

func.func public @main(%arg0: tensor<257x257xf32>, %arg1: tensor<257x257xf32>) -> tensor<257xf32> {
  // CHECK: [[P0:%.*]] = stablehlo.slice %arg0 [0:256, 0:257]
  // CHECK: [[P1:%.*]] = stablehlo.slice %arg0 [256:257, 0:257]
  // CHECK: [[D0:%.*]] = stablehlo.dot_general [[P0]], %arg1, contracting_dims = [1] x [0] : (tensor<256x257xf32>, tensor<257x257xf32>) -> tensor<256x257xf32>
  // CHECK: [[D1:%.*]] = stablehlo.dot_general [[P1]], %arg1, contracting_dims = [1] x [0] : (tensor<1x257xf32>, tensor<257x257xf32>) -> tensor<1x257xf32>
  %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] : (tensor<257x257xf32>, tensor<257x257xf32>) -> tensor<257x257xf32>
  // CHECK: [[E0:%.*]] = stablehlo.exponential [[D0]]
  // CHECK: [[E1:%.*]] = stablehlo.exponential [[D1]]
  %1 = stablehlo.exponential %0 : tensor<257x257xf32>
  %2 = stablehlo.tanh %1 : tensor<257x257xf32>
  %3 = stablehlo.abs %2 : tensor<257x257xf32>
  %4 = stablehlo.sine %3 : tensor<257x257xf32>
  %6 = stablehlo.cosine %4 : tensor<257x257xf32>
  %7 = stablehlo.negate %6 : tensor<257x257xf32>
  %cst = stablehlo.constant dense<0.0> : tensor<f32>
  // CHECK: [[S0:%.*]] = stablehlo.reduce({{.*}} tensor<256xf32>
  // CHECK: [[S1:%.*]] = stablehlo.reduce({{.*}} tensor<1xf32>
  // CHECK: stablehlo.concatenate [[S0]], [[S1]], dim = 0
  %5 = stablehlo.reduce(%7 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<257x257xf32>, tensor<f32>) -> tensor<257xf32>
  return %5 : tensor<257xf32>
}
