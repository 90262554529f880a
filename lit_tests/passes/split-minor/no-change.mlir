// RUN: relayout opt %s > %t.before
// RUN: relayout opt %s -p split-minor > %t.after
// RUN: diff %t.before %t.after

// Two arrays are scattered together.
func.func public @main(%arg0: tensor<8x2xf32>, %arg1: tensor<4x1xi32>, %arg2: tensor<4x2xf32>) -> (tensor<8x2xf32>, tensor<8x2xf32>) {
  %0:2 = "stablehlo.scatter"(%arg0, %arg0, %arg1, %arg2, %arg2) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>, %arg5: tensor<f32>, %arg6: tensor<f32>):
    %1 = stablehlo.add %arg3, %arg5 : tensor<f32>
    %2 = stablehlo.add %arg4, %arg6 : tensor<f32>
    stablehlo.return %1, %2 : tensor<f32>, tensor<f32>
  }) : (tensor<8x2xf32>, tensor<8x2xf32>, tensor<4x1xi32>, tensor<4x2xf32>, tensor<4x2xf32>) -> (tensor<8x2xf32>, tensor<8x2xf32>)
  return %0#0, %0#1 : tensor<8x2xf32>, tensor<8x2xf32>
}
