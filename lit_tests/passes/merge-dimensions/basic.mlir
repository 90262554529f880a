// RUN: relayout opt %s -p 'merge-dimensions{value=%0 dimension=1}' --strip-comments | filecheck %s
// RUN: relayout opt %s -p merge-dimensions --strip-comments | filecheck %s

func.func public @main(%arg0: tensor<1000x3x3xf32>, %arg1: tensor<65536x1xi32>) -> tensor<65536xf32> {
  // CHECK: [[P:%.*]] = stablehlo.reshape %arg0 : (tensor<1000x3x3xf32>) -> tensor<1000x9xf32>
  // CHECK: [[G:%.*]] = "stablehlo.gather"([[P]], %arg1)
  // CHECK-SAME: offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1
  // CHECK-SAME: slice_sizes = array<i64: 1, 9>
  %0 = "stablehlo.gather"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1, 2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 3, 3>}> : (tensor<1000x3x3xf32>, tensor<65536x1xi32>) -> tensor<65536x3x3xf32>
  // CHECK: [[M:%.*]] = stablehlo.multiply [[G]], [[G]] : tensor<65536x9xf32>
  %1 = stablehlo.multiply %0, %0 : tensor<65536x3x3xf32>
  %cst = stablehlo.constant dense<0.0> : tensor<f32>
  // CHECK: stablehlo.reduce([[M]] init: %cst) applies stablehlo.add across dimensions = [1]
  %2 = stablehlo.reduce(%1 init: %cst) applies stablehlo.add across dimensions = [1, 2] : (tensor<65536x3x3xf32>, tensor<f32>) -> tensor<65536xf32>
  return %2 : tensor<65536xf32>
}
