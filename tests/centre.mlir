// RUN: my-opt %s --keep --pass-pipeline='builtin.module(keep)' -split-input-file | FileCheck %s

// CHECK-LABEL: @centre
func.func @centre(%x: tensor<4xf32>, %mean: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.subtract %x, %mean : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<2xi32>) -> tensor<2xi32> {
  return %x : tensor<2xi32>
}
