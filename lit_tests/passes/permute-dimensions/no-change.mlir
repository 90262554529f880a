// RUN: not relayout opt %s -p 'permute-dimensions{value=0 order=1,0}' 2>&1 | filecheck %s

// CHECK: error: no operation around 0 computes in another order
func.func public @main(%arg0: tensor<8x2xf32>) -> tensor<8x2xf32> {
  %0 = stablehlo.custom_call @f(%arg0) : (tensor<8x2xf32>) -> tensor<8x2xf32>
  return %0 : tensor<8x2xf32>
}
