// RUN: relayout opt %s -p strip-layouts --strip-comments | filecheck %s

// CHECK-NOT: layout_mode
func.func public @main(%x: tensor<4x6xf32> {mhlo.layout_mode = "{0,1:T(4,128)}"}) -> tensor<4x6xf32> {
  // CHECK: stablehlo.negate
  %n = stablehlo.negate %x : tensor<4x6xf32>
  return %n : tensor<4x6xf32>
}
