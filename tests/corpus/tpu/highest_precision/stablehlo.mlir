module @jit_highest_precision attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @empty_mesh = <[]> {stablehlo.mesh = {axes = []}}
  func.func public @main(%arg0: tensor<3x17x200xf32> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}, {}]>}, %arg1: tensor<3x200x40xf32> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}, {}]>}) -> (tensor<40x3x17xf32> {jax.result_info = "result[0]"}, tensor<17x40xf32> {jax.result_info = "result[1]"}) {
    %0 = stablehlo.dot_general %arg1, %arg0, batching_dims = [0] x [0], contracting_dims = [1] x [2], precision = [HIGHEST, HIGHEST] : (tensor<3x200x40xf32>, tensor<3x17x200xf32>) -> tensor<3x40x17xf32>
    %1 = stablehlo.transpose %0, dims = [1, 0, 2] : (tensor<3x40x17xf32>) -> tensor<40x3x17xf32>
    %2 = stablehlo.slice %arg0 [0:1, 0:17, 0:200] : (tensor<3x17x200xf32>) -> tensor<1x17x200xf32>
    %3 = stablehlo.reshape %2 : (tensor<1x17x200xf32>) -> tensor<17x200xf32>
    %4 = stablehlo.slice %arg1 [1:2, 0:200, 0:40] : (tensor<3x200x40xf32>) -> tensor<1x200x40xf32>
    %5 = stablehlo.reshape %4 : (tensor<1x200x40xf32>) -> tensor<200x40xf32>
    %6 = stablehlo.dot_general %3, %5, contracting_dims = [1] x [0], precision = [HIGH, HIGH] : (tensor<17x200xf32>, tensor<200x40xf32>) -> tensor<17x40xf32>
    return %1, %6 : tensor<40x3x17xf32>, tensor<17x40xf32>
  }
}
