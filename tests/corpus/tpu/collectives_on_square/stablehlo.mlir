module @jit_collectives_on_square attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=2, "y"=2]> {stablehlo.mesh = {axes = [{name = "x", size = 2 : i64}, {name = "y", size = 2 : i64}]}}
  sdy.mesh @mesh_0 = <["x"=2, "y"=2]> {stablehlo.mesh = {axes = [{name = "x", size = 2 : i64}, {name = "y", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<12x140xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> (tensor<6x140xbf16> {jax.result_info = "result[0]"}, tensor<12x140xbf16> {jax.result_info = "result[1]"}, tensor<6xf32> {jax.result_info = "result[2]"}, tensor<12x70xbf16> {jax.result_info = "result[3]"}) {
    %0:4 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"x"}, {"y"}]>] out_shardings=[<@mesh, [{}, {"y"}]>, <@mesh, [{"x"}, {"y"}]>, <@mesh, [{}]>, <@mesh, [{"x"}, {}]>] manual_axes={"x", "y"} (%arg1: tensor<6x70xbf16>) {
      %1 = "stablehlo.collective_permute"(%arg1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 0], [2, 3], [3, 2]]> : tensor<4x2xi64>}> : (tensor<6x70xbf16>) -> tensor<6x70xbf16>
      %2 = "stablehlo.all_reduce"(%arg1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh_0, axes = [#stablehlo.axis_ref<name = "x">]>, use_global_device_ids}> ({
      ^bb0(%arg2: tensor<bf16>, %arg3: tensor<bf16>):
        %9 = stablehlo.maximum %arg2, %arg3 : tensor<bf16>
        stablehlo.return %9 : tensor<bf16>
      }) : (tensor<6x70xbf16>) -> tensor<6x70xbf16>
      %3 = stablehlo.convert %arg1 : (tensor<6x70xbf16>) -> tensor<6x70xf32>
      %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %4 = stablehlo.reduce(%3 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<6x70xf32>, tensor<f32>) -> tensor<6xf32>
      %5 = "stablehlo.all_reduce"(%4) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh_0, axes = [#stablehlo.axis_ref<name = "x">, #stablehlo.axis_ref<name = "y">]>, use_global_device_ids}> ({
      ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
        %9 = stablehlo.add %arg2, %arg3 : tensor<f32>
        stablehlo.return %9 : tensor<f32>
      }) : (tensor<6xf32>) -> tensor<6xf32>
      %6 = "stablehlo.all_reduce"(%1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh_0, axes = [#stablehlo.axis_ref<name = "y">]>, use_global_device_ids}> ({
      ^bb0(%arg2: tensor<bf16>, %arg3: tensor<bf16>):
        %9 = stablehlo.add %arg2, %arg3 : tensor<bf16>
        stablehlo.return %9 : tensor<bf16>
      }) : (tensor<6x70xbf16>) -> tensor<6x70xbf16>
      %cst_0 = stablehlo.constant dense<2.000000e+00> : tensor<bf16>
      %7 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<bf16>) -> tensor<6x70xbf16>
      %8 = stablehlo.divide %6, %7 : tensor<6x70xbf16>
      sdy.return %2, %1, %5, %8 : tensor<6x70xbf16>, tensor<6x70xbf16>, tensor<6xf32>, tensor<6x70xbf16>
    } : (tensor<12x140xbf16>) -> (tensor<6x140xbf16>, tensor<12x140xbf16>, tensor<6xf32>, tensor<12x70xbf16>)
    return %0#0, %0#1, %0#2, %0#3 : tensor<6x140xbf16>, tensor<12x140xbf16>, tensor<6xf32>, tensor<12x70xbf16>
  }
}
