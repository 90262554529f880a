module @jit_rounding_and_signs attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @empty_mesh = <[]> {stablehlo.mesh = {axes = []}}
  func.func public @main(%arg0: tensor<12x300xf32> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}, %arg1: tensor<12x300xf32> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}) -> (tensor<12x300xf32> {jax.result_info = "result[0]"}, tensor<12x300xf32> {jax.result_info = "result[1]"}, tensor<12x300xf32> {jax.result_info = "result[2]"}, tensor<12x300xf32> {jax.result_info = "result[3]"}, tensor<12x300xf32> {jax.result_info = "result[4]"}, tensor<12x300xf32> {jax.result_info = "result[5]"}, tensor<12x300xf32> {jax.result_info = "result[6]"}) {
    %cst = stablehlo.constant dense<-1.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<12x300xf32>
    %1 = stablehlo.clamp %0, %arg0, %arg1 : tensor<12x300xf32>
    %cst_0 = stablehlo.constant dense<3.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<12x300xf32>
    %3 = stablehlo.multiply %arg0, %2 : tensor<12x300xf32>
    %4 = call @round(%3) : (tensor<12x300xf32>) -> tensor<12x300xf32>
    %5 = stablehlo.floor %arg0 : tensor<12x300xf32>
    %6 = stablehlo.ceil %arg1 : tensor<12x300xf32>
    %7 = stablehlo.sign %arg0 : tensor<12x300xf32>
    %8 = stablehlo.remainder %arg0, %arg1 : tensor<12x300xf32>
    %9 = call @copysign(%arg1, %arg0) : (tensor<12x300xf32>, tensor<12x300xf32>) -> tensor<12x300xf32>
    return %4, %5, %6, %7, %1, %8, %9 : tensor<12x300xf32>, tensor<12x300xf32>, tensor<12x300xf32>, tensor<12x300xf32>, tensor<12x300xf32>, tensor<12x300xf32>, tensor<12x300xf32>
  }
  func.func private @round(%arg0: tensor<12x300xf32>) -> tensor<12x300xf32> {
    %0 = stablehlo.round_nearest_even %arg0 : tensor<12x300xf32>
    return %0 : tensor<12x300xf32>
  }
  func.func private @copysign(%arg0: tensor<12x300xf32>, %arg1: tensor<12x300xf32>) -> tensor<12x300xf32> {
    %0 = call @signbit(%arg1) : (tensor<12x300xf32>) -> tensor<12x300xi1>
    %1 = stablehlo.abs %arg0 : tensor<12x300xf32>
    %2 = stablehlo.negate %1 : tensor<12x300xf32>
    %3 = stablehlo.abs %arg0 : tensor<12x300xf32>
    %4 = call @_where(%0, %2, %3) : (tensor<12x300xi1>, tensor<12x300xf32>, tensor<12x300xf32>) -> tensor<12x300xf32>
    return %4 : tensor<12x300xf32>
  }
  func.func private @signbit(%arg0: tensor<12x300xf32>) -> tensor<12x300xi1> {
    %0 = stablehlo.bitcast_convert %arg0 : (tensor<12x300xf32>) -> tensor<12x300xi32>
    %c = stablehlo.constant dense<31> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<12x300xi32>
    %2 = stablehlo.shift_right_arithmetic %0, %1 : tensor<12x300xi32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %3 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<12x300xi32>
    %4 = stablehlo.compare NE, %2, %3, SIGNED : (tensor<12x300xi32>, tensor<12x300xi32>) -> tensor<12x300xi1>
    %5 = stablehlo.convert %4 : tensor<12x300xi1>
    return %5 : tensor<12x300xi1>
  }
  func.func private @_where(%arg0: tensor<12x300xi1>, %arg1: tensor<12x300xf32>, %arg2: tensor<12x300xf32>) -> tensor<12x300xf32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<12x300xi1>, tensor<12x300xf32>
    return %0 : tensor<12x300xf32>
  }
}
