module @jit_expert_parallel attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=4]> {stablehlo.mesh = {axes = [{name = "x", size = 4 : i64}]}}
  func.func public @main(%arg0: tensor<32x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg1: tensor<4x16x24xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>}, %arg2: tensor<32xi32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) -> (tensor<32x24xf32> {jax.result_info = "result"}) {
    %0 = call @_one_hot(%arg2) : (tensor<32xi32>) -> tensor<32x4xf32>
    %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<32x4xf32>) -> tensor<4x32xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<4x32xf32>) -> tensor<4x32x1xf32>
    %3 = stablehlo.broadcast_in_dim %arg0, dims = [1, 2] : (tensor<32x16xf32>) -> tensor<1x32x16xf32>
    %4 = stablehlo.broadcast_in_dim %2, dims = [0, 1, 2] : (tensor<4x32x1xf32>) -> tensor<4x32x16xf32>
    %5 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2] : (tensor<1x32x16xf32>) -> tensor<4x32x16xf32>
    %6 = stablehlo.multiply %4, %5 : tensor<4x32x16xf32>
    %7 = sdy.sharding_constraint %6 <@mesh, [{"x"}, {}, {}]> : tensor<4x32x16xf32>
    %8 = stablehlo.dot_general %7, %arg1, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x32x16xf32>, tensor<4x16x24xf32>) -> tensor<4x32x24xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %9 = stablehlo.reduce(%8 init: %cst) applies stablehlo.add across dimensions = [0] : (tensor<4x32x24xf32>, tensor<f32>) -> tensor<32x24xf32>
    return %9 : tensor<32x24xf32>
  }
  func.func private @_one_hot(%arg0: tensor<32xi32>) -> tensor<32x4xf32> {
    %0 = stablehlo.broadcast_in_dim %arg0, dims = [0] : (tensor<32xi32>) -> tensor<32x1xi32>
    %1 = stablehlo.iota dim = 1 : tensor<1x4xi32>
    %2 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<32x1xi32>) -> tensor<32x4xi32>
    %3 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<1x4xi32>) -> tensor<32x4xi32>
    %4 = stablehlo.compare EQ, %2, %3, SIGNED : (tensor<32x4xi32>, tensor<32x4xi32>) -> tensor<32x4xi1>
    %5 = stablehlo.convert %4 : (tensor<32x4xi1>) -> tensor<32x4xf32>
    return %5 : tensor<32x4xf32>
  }
}
