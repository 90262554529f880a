// The name that two functions give stands for the value of the entry.
// RUN: relayout opt %s -p 'permute-dimensions{value=0 order=1,0}' --strip-comments | filecheck %s
// RUN: relayout opt %s -p 'permute-dimensions{value=f:0 order=1,0}' --strip-comments | filecheck %s --check-prefix=F

// CHECK: stablehlo.negate {{.*}} : tensor<2x8xf32>
// F: stablehlo.negate {{.*}} : tensor<2x8xf32>
// F: stablehlo.abs {{.*}} : tensor<2x8xf32>
func.func public @main(%arg0: tensor<8x2xf32>) -> tensor<8x2xf32> {
  %0 = stablehlo.negate %arg0 : tensor<8x2xf32>
  %1 = call @f(%0) : (tensor<8x2xf32>) -> tensor<8x2xf32>
  return %1 : tensor<8x2xf32>
}
func.func private @f(%arg0: tensor<8x2xf32>) -> tensor<8x2xf32> {
  %0 = stablehlo.abs %arg0 : tensor<8x2xf32>
  return %0 : tensor<8x2xf32>
}
