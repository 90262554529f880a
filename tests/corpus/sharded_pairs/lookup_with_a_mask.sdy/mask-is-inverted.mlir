module @jit_lookup_with_a_mask attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=4]> {stablehlo.mesh = {axes = [{name = "x", size = 4 : i64}]}}
  func.func public @main(%arg0: tensor<6xi32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg1: tensor<16x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<6x4xf32> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
    %0 = sdy.manual_computation(%arg0, %arg1) in_shardings=[<@mesh, [{}]>, <@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{}, {}]>] manual_axes={"x"} (%arg2: tensor<6xi32>, %arg3: tensor<4x4xf32>) {
      %c = stablehlo.constant dense<1> : tensor<ui32>
      %c_0 = stablehlo.constant dense<4> : tensor<ui32>
      %1 = stablehlo.partition_id : tensor<ui32>
      %2 = stablehlo.divide %1, %c : tensor<ui32>
      %3 = stablehlo.remainder %2, %c_0 : tensor<ui32>
      %4 = stablehlo.convert %3 : (tensor<ui32>) -> tensor<i32>
      %c_1 = stablehlo.constant dense<4> : tensor<i32>
      %5 = stablehlo.multiply %4, %c_1 : tensor<i32>
      %6 = stablehlo.broadcast_in_dim %5, dims = [] : (tensor<i32>) -> tensor<6xi32>
      %7 = stablehlo.subtract %arg2, %6 : tensor<6xi32>
      %c_2 = stablehlo.constant dense<0> : tensor<i32>
      %8 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<6xi32>
      %9 = stablehlo.compare GE, %7, %8, SIGNED : (tensor<6xi32>, tensor<6xi32>) -> tensor<6xi1>
      %c_3 = stablehlo.constant dense<4> : tensor<i32>
      %10 = stablehlo.broadcast_in_dim %c_3, dims = [] : (tensor<i32>) -> tensor<6xi32>
      %11 = stablehlo.compare LT, %7, %10, SIGNED : (tensor<6xi32>, tensor<6xi32>) -> tensor<6xi1>
      %12 = stablehlo.and %9, %11 : tensor<6xi1>
      %c_4 = stablehlo.constant dense<0> : tensor<i32>
      %13 = func.call @_where(%12, %7, %c_4) : (tensor<6xi1>, tensor<6xi32>, tensor<i32>) -> tensor<6xi32>
      %c_5 = stablehlo.constant dense<0> : tensor<i32>
      %14 = stablehlo.broadcast_in_dim %c_5, dims = [] : (tensor<i32>) -> tensor<6xi32>
      %15 = stablehlo.compare LT, %13, %14, SIGNED : (tensor<6xi32>, tensor<6xi32>) -> tensor<6xi1>
      %c_6 = stablehlo.constant dense<4> : tensor<i32>
      %16 = stablehlo.broadcast_in_dim %c_6, dims = [] : (tensor<i32>) -> tensor<6xi32>
      %17 = stablehlo.add %13, %16 : tensor<6xi32>
      %18 = stablehlo.select %15, %17, %13 : tensor<6xi1>, tensor<6xi32>
      %19 = stablehlo.broadcast_in_dim %18, dims = [0] : (tensor<6xi32>) -> tensor<6x1xi32>
      %20 = "stablehlo.gather"(%arg3, %19) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 4>}> : (tensor<4x4xf32>, tensor<6x1xi32>) -> tensor<6x4xf32>
      %21 = stablehlo.broadcast_in_dim %12, dims = [0] : (tensor<6xi1>) -> tensor<6x1xi1>
      %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %22 = func.call @_where_0(%21, %20, %cst) : (tensor<6x1xi1>, tensor<6x4xf32>, tensor<f32>) -> tensor<6x4xf32>
      %23 = "stablehlo.all_reduce"(%22) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
      ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
        %24 = stablehlo.add %arg4, %arg5 : tensor<f32>
        stablehlo.return %24 : tensor<f32>
      }) : (tensor<6x4xf32>) -> tensor<6x4xf32>
      sdy.return %23 : tensor<6x4xf32>
    } : (tensor<6xi32>, tensor<16x4xf32>) -> tensor<6x4xf32>
    return %0 : tensor<6x4xf32>
  }
  func.func private @_where(%arg0: tensor<6xi1>, %arg1: tensor<6xi32>, %arg2: tensor<i32>) -> tensor<6xi32> {
    %0 = stablehlo.convert %arg2 : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<i32>) -> tensor<6xi32>
    %2 = stablehlo.reshape %1 : (tensor<6xi32>) -> tensor<6xi32>
    return %2 : tensor<6xi32>
  }
  func.func private @_where_0(%arg0: tensor<6x1xi1>, %arg1: tensor<6x4xf32>, %arg2: tensor<f32>) -> tensor<6x4xf32> {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [0, 1] : (tensor<6x1xi1>) -> tensor<6x4xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<6x4xf32>
    %3 = stablehlo.select %1, %arg1, %2 : tensor<6x4xi1>, tensor<6x4xf32>
    return %3 : tensor<6x4xf32>
  }
}
