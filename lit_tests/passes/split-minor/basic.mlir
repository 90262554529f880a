// RUN: relayout opt %s -p split-minor --strip-comments | filecheck %s

func.func public @main(%arg0: tensor<8x2xf32>, %arg1: tensor<4x1xi32>, %arg2: tensor<4x2xf32>) -> (tensor<4x2xf32>, tensor<8x2xf32>) {
  // CHECK: [[P0:%.*]] = stablehlo.slice %arg0 [0:8, 0:1]
  // CHECK: [[G0:%.*]] = "stablehlo.gather"([[P0]], %arg1)
  // CHECK-SAME: slice_sizes = array<i64: 1, 1>
  // CHECK: [[P1:%.*]] = stablehlo.slice %arg0 [0:8, 1:2]
  // CHECK: [[G1:%.*]] = "stablehlo.gather"([[P1]], %arg1)
  // CHECK: stablehlo.concatenate [[G0]], [[G1]], dim = 1
  %0 = "stablehlo.gather"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 2>}> : (tensor<8x2xf32>, tensor<4x1xi32>) -> tensor<4x2xf32>
  // CHECK: [[A0:%.*]] = stablehlo.slice %arg0 [0:8, 0:1]
  // CHECK: [[U0:%.*]] = stablehlo.slice %arg2 [0:4, 0:1]
  // CHECK: [[S0:%.*]] = "stablehlo.scatter"([[A0]], %arg1, [[U0]])
  // CHECK: [[S1:%.*]] = "stablehlo.scatter"
  // CHECK: stablehlo.concatenate [[S0]], [[S1]], dim = 1
  %1 = "stablehlo.scatter"(%arg0, %arg1, %arg2) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
    %2 = stablehlo.add %arg3, %arg4 : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }) : (tensor<8x2xf32>, tensor<4x1xi32>, tensor<4x2xf32>) -> tensor<8x2xf32>
  return %0, %1 : tensor<4x2xf32>, tensor<8x2xf32>
}
