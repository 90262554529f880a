module @jit_nested_loops attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @empty_mesh = <[]> {stablehlo.mesh = {axes = []}}
  func.func public @main(%arg0: tensor<10x300xf32> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}) -> (tensor<300xf32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<300xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1:4 = stablehlo.while(%iterArg = %arg0, %iterArg_1 = %c_0, %iterArg_2 = %c, %iterArg_3 = %0) : tensor<10x300xf32>, tensor<i32>, tensor<i32>, tensor<300xf32>
    cond {
      %c_4 = stablehlo.constant dense<6> : tensor<i32>
      %2 = stablehlo.compare LT, %iterArg_1, %c_4, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %2 : tensor<i1>
    } do {
      %2:2 = func.call @closed_call(%iterArg, %iterArg_2, %iterArg_3) : (tensor<10x300xf32>, tensor<i32>, tensor<300xf32>) -> (tensor<i32>, tensor<300xf32>)
      %c_4 = stablehlo.constant dense<1> : tensor<i32>
      %3 = stablehlo.add %iterArg_1, %c_4 : tensor<i32>
      stablehlo.return %iterArg, %3, %2#0, %2#1 : tensor<10x300xf32>, tensor<i32>, tensor<i32>, tensor<300xf32>
    }
    return %1#3 : tensor<300xf32>
  }
  func.func private @closed_call(%arg0: tensor<10x300xf32>, %arg1: tensor<i32>, %arg2: tensor<300xf32>) -> (tensor<i32>, tensor<300xf32>) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.add %arg1, %c : tensor<i32>
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %1 = stablehlo.add %arg1, %c_0 : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %2:5 = stablehlo.while(%iterArg = %arg0, %iterArg_2 = %arg1, %iterArg_3 = %c_1, %iterArg_4 = %1, %iterArg_5 = %arg2) : tensor<10x300xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<300xf32>
    cond {
      %3 = stablehlo.compare LT, %iterArg_3, %iterArg_4, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %3 : tensor<i1>
    } do {
      %c_6 = stablehlo.constant dense<1> : tensor<i32>
      %3 = stablehlo.add %iterArg_3, %c_6 : tensor<i32>
      %4 = stablehlo.convert %iterArg_3 : tensor<i32>
      %c_7 = stablehlo.constant dense<0> : tensor<i32>
      %5 = stablehlo.compare LT, %4, %c_7, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_8 = stablehlo.constant dense<10> : tensor<i32>
      %6 = stablehlo.add %4, %c_8 : tensor<i32>
      %7 = stablehlo.select %5, %6, %4 : tensor<i1>, tensor<i32>
      %c_9 = stablehlo.constant dense<0> : tensor<i32>
      %c_10 = stablehlo.constant dense<0> : tensor<i32>
      %8 = stablehlo.compare LT, %c_9, %c_10, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_11 = stablehlo.constant dense<0> : tensor<i32>
      %c_12 = stablehlo.constant dense<300> : tensor<i32>
      %9 = stablehlo.add %c_11, %c_12 : tensor<i32>
      %c_13 = stablehlo.constant dense<0> : tensor<i32>
      %10 = stablehlo.select %8, %9, %c_13 : tensor<i1>, tensor<i32>
      %11 = stablehlo.dynamic_slice %iterArg, %7, %10, sizes = [1, 300] : (tensor<10x300xf32>, tensor<i32>, tensor<i32>) -> tensor<1x300xf32>
      %12 = stablehlo.reshape %11 : (tensor<1x300xf32>) -> tensor<300xf32>
      %13 = stablehlo.subtract %iterArg_2, %iterArg_3 : tensor<i32>
      %14 = stablehlo.convert %13 : (tensor<i32>) -> tensor<f32>
      %15 = stablehlo.broadcast_in_dim %14, dims = [] : (tensor<f32>) -> tensor<300xf32>
      %16 = stablehlo.multiply %12, %15 : tensor<300xf32>
      %17 = stablehlo.add %iterArg_5, %16 : tensor<300xf32>
      stablehlo.return %iterArg, %iterArg_2, %3, %iterArg_4, %17 : tensor<10x300xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<300xf32>
    }
    return %0, %2#4 : tensor<i32>, tensor<300xf32>
  }
}
