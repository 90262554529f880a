// RUN: relayout opt %s -p 'permute-dimensions{value=b order=1,0}' --strip-comments | filecheck %s
// RUN: relayout check %s -p 'permute-dimensions{value=b order=1,0}' --engines proof | filecheck %s --check-prefix=PROVED

// PROVED: equal (proof)

func.func public @main(%arg0: tensor<100xi32>, %arg1: tensor<4x8xi32>) -> (tensor<100x4xi32>, tensor<100x8xi32>) {
  // CHECK: [[START:%.*]] = stablehlo.broadcast_in_dim %arg0, dims = [1] : (tensor<100xi32>) -> tensor<4x100xi32>
  %0 = stablehlo.broadcast_in_dim %arg0, dims = [0] : (tensor<100xi32>) -> tensor<100x4xi32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  // CHECK: [[END:%.*]]:2 = stablehlo.while({{.*}} = [[START]]) : tensor<i32>, tensor<4x100xi32>
  %1:2 = stablehlo.while(%a = %zero, %b = %0) : tensor<i32>, tensor<100x4xi32>
  cond {
    %limit = stablehlo.constant dense<1000> : tensor<i32>
    %c = stablehlo.compare LT, %a, %limit : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %n = stablehlo.add %a, %one : tensor<i32>
    // CHECK: stablehlo.negate {{.*}} : tensor<4x100xi32>
    %s = stablehlo.negate %b : tensor<100x4xi32>
    // CHECK: stablehlo.reduce({{.*}} across dimensions = [0] : (tensor<4x100xi32>, tensor<i32>) -> tensor<100xi32>
    %r = stablehlo.reduce(%s init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<100x4xi32>, tensor<i32>) -> tensor<100xi32>
    %w = stablehlo.broadcast_in_dim %r, dims = [0] : (tensor<100xi32>) -> tensor<100x4xi32>
    // CHECK-NOT: stablehlo.transpose
    // CHECK: }
    %m = stablehlo.multiply %s, %w : tensor<100x4xi32>
    stablehlo.return %n, %m : tensor<i32>, tensor<100x4xi32>
  }
  // CHECK: [[BACK:%.*]] = stablehlo.transpose [[END]]#1, dims = [1, 0]
  // CHECK: [[PRODUCT:%.*]] = stablehlo.dot_general [[END]]#1, %arg1, contracting_dims = [0] x [0]
  %2 = stablehlo.dot_general %1#1, %arg1, contracting_dims = [1] x [0] : (tensor<100x4xi32>, tensor<4x8xi32>) -> tensor<100x8xi32>
  // CHECK: return [[BACK]], [[PRODUCT]]
  return %1#1, %2 : tensor<100x4xi32>, tensor<100x8xi32>
}
