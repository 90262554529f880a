module @jit_batched_triangular attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @empty_mesh = <[]> {stablehlo.mesh = {axes = []}}
  func.func public @main(%arg0: tensor<3x9x9xf32> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}, {}]>}, %arg1: tensor<3x9x4xf32> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}, {}]>}) -> (tensor<3x9x4xf32> {jax.result_info = "result[0]"}, tensor<3x4x9xf32> {jax.result_info = "result[1]"}) {
    %0 = call @tril(%arg0) : (tensor<3x9x9xf32>) -> tensor<3x9x9xf32>
    %1 = "stablehlo.triangular_solve"(%0, %arg1) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<3x9x9xf32>, tensor<3x9x4xf32>) -> tensor<3x9x4xf32>
    %2 = call @triu(%arg0) : (tensor<3x9x9xf32>) -> tensor<3x9x9xf32>
    %3 = stablehlo.transpose %arg1, dims = [0, 2, 1] : (tensor<3x9x4xf32>) -> tensor<3x4x9xf32>
    %4 = "stablehlo.triangular_solve"(%2, %3) <{left_side = false, lower = false, transpose_a = #stablehlo<transpose TRANSPOSE>, unit_diagonal = false}> : (tensor<3x9x9xf32>, tensor<3x4x9xf32>) -> tensor<3x4x9xf32>
    return %1, %4 : tensor<3x9x4xf32>, tensor<3x4x9xf32>
  }
  func.func private @tril(%arg0: tensor<3x9x9xf32>) -> tensor<3x9x9xf32> {
    %0 = stablehlo.iota dim = 0 : tensor<9x9xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<9x9xi32>
    %2 = stablehlo.add %0, %1 : tensor<9x9xi32>
    %3 = stablehlo.iota dim = 1 : tensor<9x9xi32>
    %4 = stablehlo.compare GE, %2, %3, SIGNED : (tensor<9x9xi32>, tensor<9x9xi32>) -> tensor<9x9xi1>
    %5 = stablehlo.broadcast_in_dim %4, dims = [1, 2] : (tensor<9x9xi1>) -> tensor<3x9x9xi1>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<3x9x9xf32>
    %7 = stablehlo.select %5, %arg0, %6 : tensor<3x9x9xi1>, tensor<3x9x9xf32>
    return %7 : tensor<3x9x9xf32>
  }
  func.func private @triu(%arg0: tensor<3x9x9xf32>) -> tensor<3x9x9xf32> {
    %0 = stablehlo.iota dim = 0 : tensor<9x9xi32>
    %c = stablehlo.constant dense<-1> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<9x9xi32>
    %2 = stablehlo.add %0, %1 : tensor<9x9xi32>
    %3 = stablehlo.iota dim = 1 : tensor<9x9xi32>
    %4 = stablehlo.compare GE, %2, %3, SIGNED : (tensor<9x9xi32>, tensor<9x9xi32>) -> tensor<9x9xi1>
    %5 = stablehlo.broadcast_in_dim %4, dims = [1, 2] : (tensor<9x9xi1>) -> tensor<3x9x9xi1>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<3x9x9xf32>
    %7 = stablehlo.select %5, %6, %arg0 : tensor<3x9x9xi1>, tensor<3x9x9xf32>
    return %7 : tensor<3x9x9xf32>
  }
}
