module @jit_stacked_layers_remat attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @empty_mesh = <[]> {stablehlo.mesh = {axes = []}}
  func.func public @main(%arg0: tensor<5x20x32xf32> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}, {}]>}, %arg1: tensor<5x32x32xf32> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}, {}]>}) -> (tensor<f32> {jax.result_info = "result[0]"}, tensor<5x32x32xf32> {jax.result_info = "result[1]"}) {
    %0 = stablehlo.slice %arg0 [0:1, 0:20, 0:32] : (tensor<5x20x32xf32>) -> tensor<1x20x32xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x20x32xf32>) -> tensor<20x32xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<5x20x32xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %3:4 = stablehlo.while(%iterArg = %arg1, %iterArg_4 = %c, %iterArg_5 = %1, %iterArg_6 = %2) : tensor<5x32x32xf32>, tensor<i32>, tensor<20x32xf32>, tensor<5x20x32xf32>
    cond {
      %c_7 = stablehlo.constant dense<5> : tensor<i32>
      %8 = stablehlo.compare LT, %iterArg_4, %c_7, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %8 : tensor<i1>
    } do {
      %8 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_4) : (tensor<5x32x32xf32>, tensor<i32>) -> tensor<32x32xf32>
      %9:2 = func.call @closed_call(%iterArg_5, %8) : (tensor<20x32xf32>, tensor<32x32xf32>) -> (tensor<20x32xf32>, tensor<20x32xf32>)
      %10 = func.call @dynamic_update_index_in_dim(%iterArg_6, %9#1, %iterArg_4) : (tensor<5x20x32xf32>, tensor<20x32xf32>, tensor<i32>) -> tensor<5x20x32xf32>
      %c_7 = stablehlo.constant dense<1> : tensor<i32>
      %11 = stablehlo.add %iterArg_4, %c_7 : tensor<i32>
      stablehlo.return %iterArg, %11, %9#0, %10 : tensor<5x32x32xf32>, tensor<i32>, tensor<20x32xf32>, tensor<5x20x32xf32>
    }
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.reduce(%3#2 init: %cst_0) applies stablehlo.add across dimensions = [0, 1] : (tensor<20x32xf32>, tensor<f32>) -> tensor<f32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<20x32xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<5x32x32xf32>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %7:5 = stablehlo.while(%iterArg = %3#3, %iterArg_4 = %arg1, %iterArg_5 = %c_3, %iterArg_6 = %5, %iterArg_7 = %6) : tensor<5x20x32xf32>, tensor<5x32x32xf32>, tensor<i32>, tensor<20x32xf32>, tensor<5x32x32xf32>
    cond {
      %c_8 = stablehlo.constant dense<5> : tensor<i32>
      %8 = stablehlo.compare LT, %iterArg_5, %c_8, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %8 : tensor<i1>
    } do {
      %c_8 = stablehlo.constant dense<5> : tensor<i32>
      %8 = stablehlo.subtract %c_8, %iterArg_5 : tensor<i32>
      %c_9 = stablehlo.constant dense<1> : tensor<i32>
      %9 = stablehlo.subtract %8, %c_9 : tensor<i32>
      %10 = func.call @dynamic_index_in_dim_0(%iterArg, %9) : (tensor<5x20x32xf32>, tensor<i32>) -> tensor<20x32xf32>
      %11 = func.call @dynamic_index_in_dim(%iterArg_4, %9) : (tensor<5x32x32xf32>, tensor<i32>) -> tensor<32x32xf32>
      %12:2 = func.call @closed_call_1(%iterArg_6, %10, %11) : (tensor<20x32xf32>, tensor<20x32xf32>, tensor<32x32xf32>) -> (tensor<20x32xf32>, tensor<32x32xf32>)
      %13 = func.call @dynamic_update_index_in_dim_2(%iterArg_7, %12#1, %9) : (tensor<5x32x32xf32>, tensor<32x32xf32>, tensor<i32>) -> tensor<5x32x32xf32>
      %c_10 = stablehlo.constant dense<1> : tensor<i32>
      %14 = stablehlo.add %iterArg_5, %c_10 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_4, %14, %12#0, %13 : tensor<5x20x32xf32>, tensor<5x32x32xf32>, tensor<i32>, tensor<20x32xf32>, tensor<5x32x32xf32>
    }
    return %4, %7#4 : tensor<f32>, tensor<5x32x32xf32>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<5x32x32xf32>, %arg1: tensor<i32>) -> tensor<32x32xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 32, 32] : (tensor<5x32x32xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x32x32xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x32x32xf32>) -> tensor<32x32xf32>
    return %1 : tensor<32x32xf32>
  }
  func.func private @closed_call(%arg0: tensor<20x32xf32>, %arg1: tensor<32x32xf32>) -> (tensor<20x32xf32>, tensor<20x32xf32>) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<20x32xf32>, tensor<32x32xf32>) -> tensor<20x32xf32>
    %1 = stablehlo.sine %0 : tensor<20x32xf32>
    %2 = stablehlo.add %1, %arg0 : tensor<20x32xf32>
    return %2, %arg0 : tensor<20x32xf32>, tensor<20x32xf32>
  }
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<5x20x32xf32>, %arg1: tensor<20x32xf32>, %arg2: tensor<i32>) -> tensor<5x20x32xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<20x32xf32>) -> tensor<1x20x32xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0 : (tensor<5x20x32xf32>, tensor<1x20x32xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<5x20x32xf32>
    return %1 : tensor<5x20x32xf32>
  }
  func.func private @dynamic_index_in_dim_0(%arg0: tensor<5x20x32xf32>, %arg1: tensor<i32>) -> tensor<20x32xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 20, 32] : (tensor<5x20x32xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x20x32xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x20x32xf32>) -> tensor<20x32xf32>
    return %1 : tensor<20x32xf32>
  }
  func.func private @closed_call_1(%arg0: tensor<20x32xf32>, %arg1: tensor<20x32xf32>, %arg2: tensor<32x32xf32>) -> (tensor<20x32xf32>, tensor<32x32xf32>) {
    %0:3 = stablehlo.optimization_barrier %arg1, %arg2, %arg0 : tensor<20x32xf32>, tensor<32x32xf32>, tensor<20x32xf32>
    %1 = stablehlo.dot_general %0#0, %0#1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<20x32xf32>, tensor<32x32xf32>) -> tensor<20x32xf32>
    %2 = stablehlo.cosine %1 : tensor<20x32xf32>
    %3 = stablehlo.multiply %0#2, %2 : tensor<20x32xf32>
    %4 = stablehlo.dot_general %3, %0#0, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<20x32xf32>, tensor<20x32xf32>) -> tensor<32x32xf32>
    %5 = stablehlo.transpose %4, dims = [1, 0] : (tensor<32x32xf32>) -> tensor<32x32xf32>
    %6 = stablehlo.dot_general %3, %0#1, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<20x32xf32>, tensor<32x32xf32>) -> tensor<20x32xf32>
    %7 = stablehlo.add %0#2, %6 : tensor<20x32xf32>
    return %7, %5 : tensor<20x32xf32>, tensor<32x32xf32>
  }
  func.func private @dynamic_update_index_in_dim_2(%arg0: tensor<5x32x32xf32>, %arg1: tensor<32x32xf32>, %arg2: tensor<i32>) -> tensor<5x32x32xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<32x32xf32>) -> tensor<1x32x32xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0 : (tensor<5x32x32xf32>, tensor<1x32x32xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<5x32x32xf32>
    return %1 : tensor<5x32x32xf32>
  }
}
