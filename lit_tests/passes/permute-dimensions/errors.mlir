// RUN: not relayout opt %s -p 'permute-dimensions{value=%10 order=1,0}' 2>&1 | filecheck %s

// CHECK: error: the module has no value %10
// CHECK: permute-dimensions{value=%10 order=1,0}
// CHECK-NEXT: {{^ +}}^~~{{$}}
// CHECK: hint: did you mean %1?
func.func public @main(%arg0: tensor<8x2xf32>) -> tensor<8x2xf32> {
  %1 = stablehlo.sine %arg0 : tensor<8x2xf32>
  return %1 : tensor<8x2xf32>
}
