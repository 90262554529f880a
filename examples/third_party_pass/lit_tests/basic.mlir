// RUN: relayout opt %s -p erase-dead-steps --strip-comments | FileCheck %s

func.func @main(%p: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %t = stablehlo.transpose %p, dims = [1, 0] : (tensor<3x5xf32>) -> tensor<5x3xf32>
  %r = stablehlo.reshape %t : (tensor<5x3xf32>) -> tensor<15xf32>
  %n = stablehlo.negate %p : tensor<3x5xf32>
  return %n : tensor<3x5xf32>
}

// CHECK:      func.func {{.*}}@main(%[[P:.*]]: tensor<3x5xf32>
// CHECK-NEXT:   %[[N:.*]] = stablehlo.negate %[[P]]
// CHECK-NEXT:   return %[[N]]
