module @jit_ring_attention_scores attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=4]> {stablehlo.mesh = {axes = [{name = "x", size = 4 : i64}]}}
  func.func public @main(%arg0: tensor<4x12x2x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}, {}]>}, %arg1: tensor<4x12x2x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}, {}]>}) -> (tensor<4x2x12xf32> {jax.result_info = "result"}) {
    %0 = sdy.manual_computation(%arg0, %arg1) in_shardings=[<@mesh, [{"x"}, {}, {}, {}]>, <@mesh, [{"x"}, {}, {}, {}]>] out_shardings=[<@mesh, [{"x"}, {}, {}]>] manual_axes={"x"} (%arg2: tensor<1x12x2x16xf32>, %arg3: tensor<1x12x2x16xf32>) {
      %cst = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
      %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<1x2x12xf32>
      %c = stablehlo.constant dense<0> : tensor<i32>
      %2:4 = stablehlo.while(%iterArg = %arg2, %iterArg_3 = %c, %iterArg_4 = %arg3, %iterArg_5 = %1) : tensor<1x12x2x16xf32>, tensor<i32>, tensor<1x12x2x16xf32>, tensor<1x2x12xf32>
      cond {
        %c_6 = stablehlo.constant dense<4> : tensor<i32>
        %11 = stablehlo.compare LT, %iterArg_3, %c_6, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %11 : tensor<i1>
      } do {
        %11:2 = func.call @closed_call(%iterArg, %iterArg_4, %iterArg_5) : (tensor<1x12x2x16xf32>, tensor<1x12x2x16xf32>, tensor<1x2x12xf32>) -> (tensor<1x12x2x16xf32>, tensor<1x2x12xf32>)
        %c_6 = stablehlo.constant dense<1> : tensor<i32>
        %12 = stablehlo.add %iterArg_3, %c_6 : tensor<i32>
        stablehlo.return %iterArg, %12, %11#0, %11#1 : tensor<1x12x2x16xf32>, tensor<i32>, tensor<1x12x2x16xf32>, tensor<1x2x12xf32>
      }
      %c_0 = stablehlo.constant dense<1> : tensor<ui32>
      %c_1 = stablehlo.constant dense<4> : tensor<ui32>
      %3 = stablehlo.partition_id : tensor<ui32>
      %4 = stablehlo.divide %3, %c_0 : tensor<ui32>
      %5 = stablehlo.remainder %4, %c_1 : tensor<ui32>
      %6 = stablehlo.convert %5 : (tensor<ui32>) -> tensor<i32>
      %c_2 = stablehlo.constant dense<1> : tensor<i32>
      %7 = stablehlo.add %6, %c_2 : tensor<i32>
      %8 = stablehlo.convert %7 : (tensor<i32>) -> tensor<f32>
      %9 = stablehlo.broadcast_in_dim %8, dims = [] : (tensor<f32>) -> tensor<1x2x12xf32>
      %10 = stablehlo.multiply %2#3, %9 : tensor<1x2x12xf32>
      sdy.return %10 : tensor<1x2x12xf32>
    } : (tensor<4x12x2x16xf32>, tensor<4x12x2x16xf32>) -> tensor<4x2x12xf32>
    return %0 : tensor<4x2x12xf32>
  }
  func.func private @closed_call(%arg0: tensor<1x12x2x16xf32>, %arg1: tensor<1x12x2x16xf32>, %arg2: tensor<1x2x12xf32>) -> (tensor<1x12x2x16xf32>, tensor<1x2x12xf32>) {
    %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x12x2x16xf32>, tensor<1x12x2x16xf32>) -> tensor<1x2x12x12xf32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.maximum across dimensions = [3] : (tensor<1x2x12x12xf32>, tensor<f32>) -> tensor<1x2x12xf32>
    %2 = stablehlo.convert %arg2 : tensor<1x2x12xf32>
    %3 = stablehlo.maximum %2, %1 : tensor<1x2x12xf32>
    %4 = "stablehlo.collective_permute"(%arg1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 2], [2, 3], [3, 0]]> : tensor<4x2xi64>}> : (tensor<1x12x2x16xf32>) -> tensor<1x12x2x16xf32>
    return %4, %3 : tensor<1x12x2x16xf32>, tensor<1x2x12xf32>
  }
}
