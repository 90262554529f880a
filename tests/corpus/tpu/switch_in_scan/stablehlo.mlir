module @jit_switch_in_scan attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @empty_mesh = <[]> {stablehlo.mesh = {axes = []}}
  func.func public @main(%arg0: tensor<9x200xf32> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}, %arg1: tensor<4xi32> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}]>}) -> (tensor<9x200xf32> {jax.result_info = "result[0]"}, tensor<4x200xf32> {jax.result_info = "result[1]"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x200xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1:4 = stablehlo.while(%iterArg = %arg1, %iterArg_0 = %c, %iterArg_1 = %arg0, %iterArg_2 = %0) : tensor<4xi32>, tensor<i32>, tensor<9x200xf32>, tensor<4x200xf32>
    cond {
      %c_3 = stablehlo.constant dense<4> : tensor<i32>
      %2 = stablehlo.compare LT, %iterArg_0, %c_3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %2 : tensor<i1>
    } do {
      %2 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_0) : (tensor<4xi32>, tensor<i32>) -> tensor<i32>
      %3:2 = func.call @closed_call(%iterArg_1, %2) : (tensor<9x200xf32>, tensor<i32>) -> (tensor<9x200xf32>, tensor<200xf32>)
      %4 = func.call @dynamic_update_index_in_dim(%iterArg_2, %3#1, %iterArg_0) : (tensor<4x200xf32>, tensor<200xf32>, tensor<i32>) -> tensor<4x200xf32>
      %c_3 = stablehlo.constant dense<1> : tensor<i32>
      %5 = stablehlo.add %iterArg_0, %c_3 : tensor<i32>
      stablehlo.return %iterArg, %5, %3#0, %4 : tensor<4xi32>, tensor<i32>, tensor<9x200xf32>, tensor<4x200xf32>
    }
    return %1#2, %1#3 : tensor<9x200xf32>, tensor<4x200xf32>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<4xi32>, %arg1: tensor<i32>) -> tensor<i32> {
    %0 = stablehlo.dynamic_slice %arg0, %arg1, sizes = [1] : (tensor<4xi32>, tensor<i32>) -> tensor<1xi32>
    %1 = stablehlo.reshape %0 : (tensor<1xi32>) -> tensor<i32>
    return %1 : tensor<i32>
  }
  func.func private @closed_call(%arg0: tensor<9x200xf32>, %arg1: tensor<i32>) -> (tensor<9x200xf32>, tensor<200xf32>) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<3> : tensor<i32>
    %0 = stablehlo.clamp %c, %arg1, %c_0 : tensor<i32>
    %1 = "stablehlo.case"(%0) ({
      %4 = stablehlo.sine %arg0 : tensor<9x200xf32>
      stablehlo.return %4 : tensor<9x200xf32>
    }, {
      %4 = stablehlo.reverse %arg0, dims = [0] : tensor<9x200xf32>
      stablehlo.return %4 : tensor<9x200xf32>
    }, {
      %4 = func.call @cumsum(%arg0) : (tensor<9x200xf32>) -> tensor<9x200xf32>
      %cst = stablehlo.constant dense<1.000000e-01> : tensor<f32>
      %5 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<9x200xf32>
      %6 = stablehlo.multiply %4, %5 : tensor<9x200xf32>
      stablehlo.return %6 : tensor<9x200xf32>
    }, {
      %4 = func.call @_roll_static(%arg0) : (tensor<9x200xf32>) -> tensor<9x200xf32>
      stablehlo.return %4 : tensor<9x200xf32>
    }) : (tensor<i32>) -> tensor<9x200xf32>
    %2 = stablehlo.slice %arg0 [0:1, 0:200] : (tensor<9x200xf32>) -> tensor<1x200xf32>
    %3 = stablehlo.reshape %2 : (tensor<1x200xf32>) -> tensor<200xf32>
    return %1, %3 : tensor<9x200xf32>, tensor<200xf32>
  }
  func.func private @cumsum(%arg0: tensor<9x200xf32>) -> tensor<9x200xf32> {
    %0 = call @cumsum_0(%arg0) : (tensor<9x200xf32>) -> tensor<9x200xf32>
    return %0 : tensor<9x200xf32>
  }
  func.func private @cumsum_0(%arg0: tensor<9x200xf32>) -> tensor<9x200xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<f32>
    %1 = "stablehlo.reduce_window"(%arg0, %0) <{base_dilations = array<i64: 1, 1>, padding = dense<[[8, 0], [0, 0]]> : tensor<2x2xi64>, window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 9, 1>, window_strides = array<i64: 1, 1>}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %2 = stablehlo.add %arg1, %arg2 : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<9x200xf32>, tensor<f32>) -> tensor<9x200xf32>
    return %1 : tensor<9x200xf32>
  }
  func.func private @_roll_static(%arg0: tensor<9x200xf32>) -> tensor<9x200xf32> {
    %0 = stablehlo.slice %arg0 [0:9, 197:200] : (tensor<9x200xf32>) -> tensor<9x3xf32>
    %1 = stablehlo.slice %arg0 [0:9, 0:197] : (tensor<9x200xf32>) -> tensor<9x197xf32>
    %2 = stablehlo.concatenate %0, %1, dim = 1 : (tensor<9x3xf32>, tensor<9x197xf32>) -> tensor<9x200xf32>
    return %2 : tensor<9x200xf32>
  }
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<4x200xf32>, %arg1: tensor<200xf32>, %arg2: tensor<i32>) -> tensor<4x200xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<200xf32>) -> tensor<1x200xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c : (tensor<4x200xf32>, tensor<1x200xf32>, tensor<i32>, tensor<i32>) -> tensor<4x200xf32>
    return %1 : tensor<4x200xf32>
  }
}
