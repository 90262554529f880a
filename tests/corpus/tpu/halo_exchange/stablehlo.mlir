module @jit_halo_exchange attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=4]> {stablehlo.mesh = {axes = [{name = "x", size = 4 : i64}]}}
  func.func public @main(%arg0: tensor<8x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg1: tensor<8xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<8x12xf32> {jax.result_info = "result"}) {
    %0 = sdy.manual_computation(%arg0, %arg1) in_shardings=[<@mesh, [{"x"}, {}]>, <@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%arg2: tensor<2x12xf32>, %arg3: tensor<2xi32>) {
      %1 = stablehlo.slice %arg2 [1:2, 0:12] : (tensor<2x12xf32>) -> tensor<1x12xf32>
      %2 = "stablehlo.collective_permute"(%1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 2], [2, 3]]> : tensor<3x2xi64>}> : (tensor<1x12xf32>) -> tensor<1x12xf32>
      %3 = stablehlo.slice %arg2 [0:1, 0:12] : (tensor<2x12xf32>) -> tensor<1x12xf32>
      %4 = "stablehlo.collective_permute"(%3) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[1, 0], [2, 1], [3, 2]]> : tensor<3x2xi64>}> : (tensor<1x12xf32>) -> tensor<1x12xf32>
      %5 = stablehlo.concatenate %2, %arg2, %4, dim = 0 : (tensor<1x12xf32>, tensor<2x12xf32>, tensor<1x12xf32>) -> tensor<4x12xf32>
      %6 = stablehlo.slice %5 [0:2, 0:12] : (tensor<4x12xf32>) -> tensor<2x12xf32>
      %7 = stablehlo.slice %5 [2:4, 0:12] : (tensor<4x12xf32>) -> tensor<2x12xf32>
      %8 = stablehlo.add %6, %7 : tensor<2x12xf32>
      %cst = stablehlo.constant dense<5.000000e-01> : tensor<f32>
      %9 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x12xf32>
      %10 = stablehlo.multiply %8, %9 : tensor<2x12xf32>
      %11 = "stablehlo.all_reduce"(%arg3) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
      ^bb0(%arg4: tensor<i32>, %arg5: tensor<i32>):
        %16 = stablehlo.minimum %arg4, %arg5 : tensor<i32>
        stablehlo.return %16 : tensor<i32>
      }) : (tensor<2xi32>) -> tensor<2xi32>
      %12 = stablehlo.broadcast_in_dim %11, dims = [0] : (tensor<2xi32>) -> tensor<2x1xi32>
      %13 = stablehlo.convert %12 : (tensor<2x1xi32>) -> tensor<2x1xf32>
      %14 = stablehlo.broadcast_in_dim %13, dims = [0, 1] : (tensor<2x1xf32>) -> tensor<2x12xf32>
      %15 = stablehlo.add %10, %14 : tensor<2x12xf32>
      sdy.return %15 : tensor<2x12xf32>
    } : (tensor<8x12xf32>, tensor<8xi32>) -> tensor<8x12xf32>
    return %0 : tensor<8x12xf32>
  }
}
