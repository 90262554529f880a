module @jit_lstm_scan attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @empty_mesh = <[]> {stablehlo.mesh = {axes = []}}
  func.func public @main(%arg0: tensor<6x12x20xf32> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}, {}]>}, %arg1: tensor<20x120xf32> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}, %arg2: tensor<40x160xf32> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}) -> (tensor<12x40xf32> {jax.result_info = "result[0][0]"}, tensor<12x40xf32> {jax.result_info = "result[0][1]"}, tensor<6x12xf32> {jax.result_info = "result[1]"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = call @_pad(%arg1, %c) : (tensor<20x120xf32>, tensor<i32>) -> tensor<20x160xf32>
    %1 = stablehlo.concatenate %0, %arg2, dim = 0 : (tensor<20x160xf32>, tensor<40x160xf32>) -> tensor<60x160xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<12x40xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<12x40xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<6x12xf32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %5:6 = stablehlo.while(%iterArg = %arg0, %iterArg_3 = %1, %iterArg_4 = %c_2, %iterArg_5 = %2, %iterArg_6 = %3, %iterArg_7 = %4) : tensor<6x12x20xf32>, tensor<60x160xf32>, tensor<i32>, tensor<12x40xf32>, tensor<12x40xf32>, tensor<6x12xf32>
    cond {
      %c_8 = stablehlo.constant dense<6> : tensor<i32>
      %6 = stablehlo.compare LT, %iterArg_4, %c_8, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %6 : tensor<i1>
    } do {
      %6 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_4) : (tensor<6x12x20xf32>, tensor<i32>) -> tensor<12x20xf32>
      %7:3 = func.call @closed_call(%iterArg_3, %iterArg_5, %iterArg_6, %6) : (tensor<60x160xf32>, tensor<12x40xf32>, tensor<12x40xf32>, tensor<12x20xf32>) -> (tensor<12x40xf32>, tensor<12x40xf32>, tensor<12xf32>)
      %8 = func.call @dynamic_update_index_in_dim(%iterArg_7, %7#2, %iterArg_4) : (tensor<6x12xf32>, tensor<12xf32>, tensor<i32>) -> tensor<6x12xf32>
      %c_8 = stablehlo.constant dense<1> : tensor<i32>
      %9 = stablehlo.add %iterArg_4, %c_8 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_3, %9, %7#0, %7#1, %8 : tensor<6x12x20xf32>, tensor<60x160xf32>, tensor<i32>, tensor<12x40xf32>, tensor<12x40xf32>, tensor<6x12xf32>
    }
    return %5#3, %5#4, %5#5 : tensor<12x40xf32>, tensor<12x40xf32>, tensor<6x12xf32>
  }
  func.func private @_pad(%arg0: tensor<20x120xf32>, %arg1: tensor<i32>) -> tensor<20x160xf32> {
    %0 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<f32>
    %1 = stablehlo.pad %arg0, %0, low = [0, 0], high = [0, 40], interior = [0, 0] : (tensor<20x120xf32>, tensor<f32>) -> tensor<20x160xf32>
    return %1 : tensor<20x160xf32>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<6x12x20xf32>, %arg1: tensor<i32>) -> tensor<12x20xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 12, 20] : (tensor<6x12x20xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x12x20xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x12x20xf32>) -> tensor<12x20xf32>
    return %1 : tensor<12x20xf32>
  }
  func.func private @closed_call(%arg0: tensor<60x160xf32>, %arg1: tensor<12x40xf32>, %arg2: tensor<12x40xf32>, %arg3: tensor<12x20xf32>) -> (tensor<12x40xf32>, tensor<12x40xf32>, tensor<12xf32>) {
    %0 = stablehlo.concatenate %arg3, %arg1, dim = 1 : (tensor<12x20xf32>, tensor<12x40xf32>) -> tensor<12x60xf32>
    %1 = stablehlo.dot_general %0, %arg0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<12x60xf32>, tensor<60x160xf32>) -> tensor<12x160xf32>
    %2 = stablehlo.slice %1 [0:12, 0:40] : (tensor<12x160xf32>) -> tensor<12x40xf32>
    %3 = stablehlo.slice %1 [0:12, 40:80] : (tensor<12x160xf32>) -> tensor<12x40xf32>
    %4 = stablehlo.slice %1 [0:12, 80:120] : (tensor<12x160xf32>) -> tensor<12x40xf32>
    %5 = stablehlo.slice %1 [0:12, 120:160] : (tensor<12x160xf32>) -> tensor<12x40xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<12x40xf32>
    %7 = stablehlo.add %3, %6 : tensor<12x40xf32>
    %8 = stablehlo.negate %7 : tensor<12x40xf32>
    %9 = stablehlo.exponential %8 : tensor<12x40xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<12x40xf32>
    %11 = stablehlo.add %10, %9 : tensor<12x40xf32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<12x40xf32>
    %13 = stablehlo.divide %12, %11 : tensor<12x40xf32>
    %14 = stablehlo.multiply %13, %arg2 : tensor<12x40xf32>
    %15 = stablehlo.negate %2 : tensor<12x40xf32>
    %16 = stablehlo.exponential %15 : tensor<12x40xf32>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %17 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<12x40xf32>
    %18 = stablehlo.add %17, %16 : tensor<12x40xf32>
    %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %19 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<12x40xf32>
    %20 = stablehlo.divide %19, %18 : tensor<12x40xf32>
    %21 = stablehlo.tanh %4 : tensor<12x40xf32>
    %22 = stablehlo.multiply %20, %21 : tensor<12x40xf32>
    %23 = stablehlo.add %14, %22 : tensor<12x40xf32>
    %24 = stablehlo.negate %5 : tensor<12x40xf32>
    %25 = stablehlo.exponential %24 : tensor<12x40xf32>
    %cst_4 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %26 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<12x40xf32>
    %27 = stablehlo.add %26, %25 : tensor<12x40xf32>
    %cst_5 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %28 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<12x40xf32>
    %29 = stablehlo.divide %28, %27 : tensor<12x40xf32>
    %30 = stablehlo.tanh %23 : tensor<12x40xf32>
    %31 = stablehlo.multiply %29, %30 : tensor<12x40xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %32 = stablehlo.reduce(%31 init: %cst_6) applies stablehlo.add across dimensions = [1] : (tensor<12x40xf32>, tensor<f32>) -> tensor<12xf32>
    return %31, %23, %32 : tensor<12x40xf32>, tensor<12x40xf32>, tensor<12xf32>
  }
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<6x12xf32>, %arg1: tensor<12xf32>, %arg2: tensor<i32>) -> tensor<6x12xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<12xf32>) -> tensor<1x12xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c : (tensor<6x12xf32>, tensor<1x12xf32>, tensor<i32>, tensor<i32>) -> tensor<6x12xf32>
    return %1 : tensor<6x12xf32>
  }
}
