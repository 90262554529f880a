// RUN: not relayout opt %s -p 'narrow-padding{dimension=1}' 2>&1 | filecheck %s
// RUN: not relayout opt %s -p 'narrow-padding{value=%0 dimension=rows}' 2>&1 | filecheck %s --check-prefix=NUMBER

// CHECK: <pipeline>:1:26: error: option dimension is for a named value
// NUMBER: error: option dimension is an integer, not rows
func.func public @main(%arg0: tensor<8x200xf32>) -> tensor<8x200xf32> {
  %0 = stablehlo.negate %arg0 : tensor<8x200xf32>
  return %0 : tensor<8x200xf32>
}
