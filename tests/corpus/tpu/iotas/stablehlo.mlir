module @jit_iotas attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @empty_mesh = <[]> {stablehlo.mesh = {axes = []}}
  func.func public @main(%arg0: tensor<12x256xf32> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}) -> (tensor<12x256xf32> {jax.result_info = "result[0]"}, tensor<12x12xf32> {jax.result_info = "result[1]"}, tensor<200xf32> {jax.result_info = "result[2]"}, tensor<256x12xi32> {jax.result_info = "result[3]"}) {
    %0 = stablehlo.iota dim = 0 : tensor<12x256xi32>
    %1 = stablehlo.iota dim = 1 : tensor<12x256xi32>
    %c = stablehlo.constant dense<7> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<12x256xi32>
    %3 = stablehlo.multiply %0, %2 : tensor<12x256xi32>
    %4 = stablehlo.add %3, %1 : tensor<12x256xi32>
    %c_0 = stablehlo.constant dense<5> : tensor<i32>
    %5 = call @remainder(%4, %c_0) : (tensor<12x256xi32>, tensor<i32>) -> tensor<12x256xi32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<12x256xi32>
    %7 = stablehlo.compare EQ, %5, %6, SIGNED : (tensor<12x256xi32>, tensor<12x256xi32>) -> tensor<12x256xi1>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %8 = call @_where_0(%7, %arg0, %c_2) : (tensor<12x256xi1>, tensor<12x256xf32>, tensor<i32>) -> tensor<12x256xf32>
    %9 = stablehlo.slice %arg0 [0:12, 0:12] : (tensor<12x256xf32>) -> tensor<12x12xf32>
    %10 = call @triu(%9) : (tensor<12x12xf32>) -> tensor<12x12xf32>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %c_4 = stablehlo.constant dense<1> : tensor<i32>
    %11 = call @_linspace(%c_3, %c_4) : (tensor<i32>, tensor<i32>) -> tensor<200xf32>
    %12 = stablehlo.transpose %0, dims = [1, 0] : (tensor<12x256xi32>) -> tensor<256x12xi32>
    return %8, %10, %11, %12 : tensor<12x256xf32>, tensor<12x12xf32>, tensor<200xf32>, tensor<256x12xi32>
  }
  func.func private @remainder(%arg0: tensor<12x256xi32>, %arg1: tensor<i32>) -> tensor<12x256xi32> {
    %0 = stablehlo.convert %arg1 : tensor<i32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.compare EQ, %0, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %2 = call @_where(%1, %c_0, %0) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<i32>) -> tensor<12x256xi32>
    %4 = stablehlo.remainder %arg0, %3 : tensor<12x256xi32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %5 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<12x256xi32>
    %6 = stablehlo.compare NE, %4, %5, SIGNED : (tensor<12x256xi32>, tensor<12x256xi32>) -> tensor<12x256xi1>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %7 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<12x256xi32>
    %8 = stablehlo.compare LT, %4, %7, SIGNED : (tensor<12x256xi32>, tensor<12x256xi32>) -> tensor<12x256xi1>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %9 = stablehlo.compare LT, %2, %c_3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %10 = stablehlo.broadcast_in_dim %9, dims = [] : (tensor<i1>) -> tensor<12x256xi1>
    %11 = stablehlo.compare NE, %8, %10, UNSIGNED : (tensor<12x256xi1>, tensor<12x256xi1>) -> tensor<12x256xi1>
    %12 = stablehlo.and %11, %6 : tensor<12x256xi1>
    %13 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<i32>) -> tensor<12x256xi32>
    %14 = stablehlo.add %4, %13 : tensor<12x256xi32>
    %15 = stablehlo.select %12, %14, %4 : tensor<12x256xi1>, tensor<12x256xi32>
    return %15 : tensor<12x256xi32>
  }
  func.func private @_where(%arg0: tensor<i1>, %arg1: tensor<i32>, %arg2: tensor<i32>) -> tensor<i32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<i1>, tensor<i32>
    return %0 : tensor<i32>
  }
  func.func private @_where_0(%arg0: tensor<12x256xi1>, %arg1: tensor<12x256xf32>, %arg2: tensor<i32>) -> tensor<12x256xf32> {
    %0 = stablehlo.convert %arg2 : (tensor<i32>) -> tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<12x256xf32>
    %2 = stablehlo.select %arg0, %arg1, %1 : tensor<12x256xi1>, tensor<12x256xf32>
    return %2 : tensor<12x256xf32>
  }
  func.func private @triu(%arg0: tensor<12x12xf32>) -> tensor<12x12xf32> {
    %0 = stablehlo.iota dim = 0 : tensor<12x12xi32>
    %c = stablehlo.constant dense<1> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<12x12xi32>
    %2 = stablehlo.add %0, %1 : tensor<12x12xi32>
    %3 = stablehlo.iota dim = 1 : tensor<12x12xi32>
    %4 = stablehlo.compare GE, %2, %3, SIGNED : (tensor<12x12xi32>, tensor<12x12xi32>) -> tensor<12x12xi1>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<12x12xf32>
    %6 = stablehlo.select %4, %5, %arg0 : tensor<12x12xi1>, tensor<12x12xf32>
    return %6 : tensor<12x12xf32>
  }
  func.func private @_linspace(%arg0: tensor<i32>, %arg1: tensor<i32>) -> tensor<200xf32> {
    %0 = stablehlo.convert %arg0 : (tensor<i32>) -> tensor<f32>
    %1 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<f32>
    %2 = stablehlo.iota dim = 0 : tensor<199xf32>
    %cst = stablehlo.constant dense<1.990000e+02> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<199xf32>
    %4 = stablehlo.divide %2, %3 : tensor<199xf32>
    %5 = stablehlo.reshape %0 : (tensor<f32>) -> tensor<1xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<199xf32>
    %7 = stablehlo.subtract %6, %4 : tensor<199xf32>
    %8 = stablehlo.broadcast_in_dim %5, dims = [0] : (tensor<1xf32>) -> tensor<199xf32>
    %9 = stablehlo.multiply %8, %7 : tensor<199xf32>
    %10 = stablehlo.reshape %1 : (tensor<f32>) -> tensor<1xf32>
    %11 = stablehlo.broadcast_in_dim %10, dims = [0] : (tensor<1xf32>) -> tensor<199xf32>
    %12 = stablehlo.multiply %11, %4 : tensor<199xf32>
    %13 = stablehlo.add %9, %12 : tensor<199xf32>
    %14 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %15 = stablehlo.concatenate %13, %14, dim = 0 : (tensor<199xf32>, tensor<1xf32>) -> tensor<200xf32>
    return %15 : tensor<200xf32>
  }
}
