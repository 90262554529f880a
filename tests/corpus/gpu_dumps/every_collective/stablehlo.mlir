module @jit_every_collective attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=4]> {stablehlo.mesh = {axes = [{name = "x", size = 4 : i64}]}}
  func.func public @main(%arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg1: tensor<8x16xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<2x16xf32> {jax.result_info = "result[0]"}, tensor<2x16xbf16> {jax.result_info = "result[1]"}, tensor<8x16xf32> {jax.result_info = "result[2]"}, tensor<8x16xbf16> {jax.result_info = "result[3]"}, tensor<2x16xf32> {jax.result_info = "result[4]"}, tensor<2x16xbf16> {jax.result_info = "result[5]"}, tensor<2x16xf32> {jax.result_info = "result[6]"}, tensor<8x16xf32> {jax.result_info = "result[7]"}, tensor<2x16xbf16> {jax.result_info = "result[8]"}, tensor<8x16xf32> {jax.result_info = "result[9]"}, tensor<2x64xbf16> {jax.result_info = "result[10]"}) {
    %0:11 = sdy.manual_computation(%arg0, %arg1) in_shardings=[<@mesh, [{"x"}, {}]>, <@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{}, {}]>, <@mesh, [{}, {}]>, <@mesh, [{}, {}]>, <@mesh, [{"x"}, {}]>, <@mesh, [{}, {"x"}]>, <@mesh, [{}, {}]>, <@mesh, [{}, {}]>, <@mesh, [{}, {"x"}]>, <@mesh, [{}, {"x"}]>, <@mesh, [{"x"}, {}]>, <@mesh, [{}, {}]>] manual_axes={"x"} (%arg2: tensor<2x16xf32>, %arg3: tensor<2x16xbf16>) {
      %1 = "stablehlo.all_reduce"(%arg2) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
      ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
        %21 = stablehlo.add %arg4, %arg5 : tensor<f32>
        stablehlo.return %21 : tensor<f32>
      }) : (tensor<2x16xf32>) -> tensor<2x16xf32>
      %2 = "stablehlo.all_reduce"(%arg3) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
      ^bb0(%arg4: tensor<bf16>, %arg5: tensor<bf16>):
        %21 = stablehlo.maximum %arg4, %arg5 : tensor<bf16>
        stablehlo.return %21 : tensor<bf16>
      }) : (tensor<2x16xbf16>) -> tensor<2x16xbf16>
      %3 = "stablehlo.all_gather"(%arg2) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> : (tensor<2x16xf32>) -> tensor<8x16xf32>
      %4 = "stablehlo.collective_permute"(%arg3) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 2], [2, 3], [3, 0]]> : tensor<4x2xi64>}> : (tensor<2x16xbf16>) -> tensor<2x16xbf16>
      %5 = "stablehlo.reduce_scatter"(%arg2) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, scatter_dimension = 1 : i64, use_global_device_ids}> ({
      ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
        %21 = stablehlo.add %arg4, %arg5 : tensor<f32>
        stablehlo.return %21 : tensor<f32>
      }) : (tensor<2x16xf32>) -> tensor<2x4xf32>
      %6 = "stablehlo.all_reduce"(%arg3) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
      ^bb0(%arg4: tensor<bf16>, %arg5: tensor<bf16>):
        %21 = stablehlo.add %arg4, %arg5 : tensor<bf16>
        stablehlo.return %21 : tensor<bf16>
      }) : (tensor<2x16xbf16>) -> tensor<2x16xbf16>
      %cst = stablehlo.constant dense<4.000000e+00> : tensor<bf16>
      %7 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<bf16>) -> tensor<2x16xbf16>
      %8 = stablehlo.divide %6, %7 : tensor<2x16xbf16>
      %9 = "stablehlo.all_reduce"(%arg2) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
      ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
        %21 = stablehlo.minimum %arg4, %arg5 : tensor<f32>
        stablehlo.return %21 : tensor<f32>
      }) : (tensor<2x16xf32>) -> tensor<2x16xf32>
      %10 = "stablehlo.all_to_all"(%arg2) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, concat_dimension = 0 : i64, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, split_count = 4 : i64, split_dimension = 1 : i64}> : (tensor<2x16xf32>) -> tensor<8x4xf32>
      %11 = "stablehlo.reduce_scatter"(%arg3) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, scatter_dimension = 1 : i64, use_global_device_ids}> ({
      ^bb0(%arg4: tensor<bf16>, %arg5: tensor<bf16>):
        %21 = stablehlo.add %arg4, %arg5 : tensor<bf16>
        stablehlo.return %21 : tensor<bf16>
      }) : (tensor<2x16xbf16>) -> tensor<2x4xbf16>
      %c = stablehlo.constant dense<1> : tensor<ui32>
      %c_0 = stablehlo.constant dense<4> : tensor<ui32>
      %12 = stablehlo.partition_id : tensor<ui32>
      %13 = stablehlo.divide %12, %c : tensor<ui32>
      %14 = stablehlo.remainder %13, %c_0 : tensor<ui32>
      %15 = stablehlo.convert %14 : (tensor<ui32>) -> tensor<i32>
      %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %16 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<2x16xf32>
      %17 = stablehlo.convert %15 : (tensor<i32>) -> tensor<f32>
      %18 = stablehlo.broadcast_in_dim %17, dims = [] : (tensor<f32>) -> tensor<2x16xf32>
      %19 = stablehlo.multiply %18, %16 : tensor<2x16xf32>
      %20 = "stablehlo.all_gather"(%arg3) <{all_gather_dim = 1 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> : (tensor<2x16xbf16>) -> tensor<2x64xbf16>
      sdy.return %1, %2, %3, %4, %5, %8, %9, %10, %11, %19, %20 : tensor<2x16xf32>, tensor<2x16xbf16>, tensor<8x16xf32>, tensor<2x16xbf16>, tensor<2x4xf32>, tensor<2x16xbf16>, tensor<2x16xf32>, tensor<8x4xf32>, tensor<2x4xbf16>, tensor<2x16xf32>, tensor<2x64xbf16>
    } : (tensor<8x16xf32>, tensor<8x16xbf16>) -> (tensor<2x16xf32>, tensor<2x16xbf16>, tensor<8x16xf32>, tensor<8x16xbf16>, tensor<2x16xf32>, tensor<2x16xbf16>, tensor<2x16xf32>, tensor<8x16xf32>, tensor<2x16xbf16>, tensor<8x16xf32>, tensor<2x64xbf16>)
    return %0#0, %0#1, %0#2, %0#3, %0#4, %0#5, %0#6, %0#7, %0#8, %0#9, %0#10 : tensor<2x16xf32>, tensor<2x16xbf16>, tensor<8x16xf32>, tensor<8x16xbf16>, tensor<2x16xf32>, tensor<2x16xbf16>, tensor<2x16xf32>, tensor<8x16xf32>, tensor<2x16xbf16>, tensor<8x16xf32>, tensor<2x64xbf16>
  }
}
