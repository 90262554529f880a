module @jit_cholesky_batched_gradient attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @empty_mesh = <[]> {stablehlo.mesh = {axes = []}}
  func.func public @main(%arg0: tensor<2x12x12xf32> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}, {}]>}) -> (tensor<2x12x12xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.transpose %arg0, dims = [0, 2, 1] : (tensor<2x12x12xf32>) -> tensor<2x12x12xf32>
    %1 = stablehlo.dot_general %arg0, %0, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x12x12xf32>, tensor<2x12x12xf32>) -> tensor<2x12x12xf32>
    %2:4 = call @cholesky(%1) : (tensor<2x12x12xf32>) -> (tensor<2x12x12xf32>, tensor<2x12x12xi1>, tensor<1x12x12xf32>, tensor<2x12x12xi1>)
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x12x12xf32>
    %4 = call @cholesky_0(%2#0, %2#1, %2#2, %2#3, %3) : (tensor<2x12x12xf32>, tensor<2x12x12xi1>, tensor<1x12x12xf32>, tensor<2x12x12xi1>, tensor<2x12x12xf32>) -> tensor<2x12x12xf32>
    %5 = stablehlo.dot_general %4, %arg0, batching_dims = [0] x [0], contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x12x12xf32>, tensor<2x12x12xf32>) -> tensor<2x12x12xf32>
    %6 = stablehlo.transpose %5, dims = [0, 2, 1] : (tensor<2x12x12xf32>) -> tensor<2x12x12xf32>
    %7 = stablehlo.dot_general %4, %0, batching_dims = [0] x [0], contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<2x12x12xf32>, tensor<2x12x12xf32>) -> tensor<2x12x12xf32>
    %8 = stablehlo.transpose %6, dims = [0, 2, 1] : (tensor<2x12x12xf32>) -> tensor<2x12x12xf32>
    %9 = stablehlo.add %7, %8 : tensor<2x12x12xf32>
    return %9 : tensor<2x12x12xf32>
  }
  func.func private @cholesky(%arg0: tensor<2x12x12xf32>) -> (tensor<2x12x12xf32>, tensor<2x12x12xi1>, tensor<1x12x12xf32>, tensor<2x12x12xi1>) {
    %0 = stablehlo.transpose %arg0, dims = [0, 2, 1] : (tensor<2x12x12xf32>) -> tensor<2x12x12xf32>
    %1 = stablehlo.add %arg0, %0 : tensor<2x12x12xf32>
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x12x12xf32>
    %3 = stablehlo.divide %1, %2 : tensor<2x12x12xf32>
    %4 = stablehlo.cholesky %3, lower = true : tensor<2x12x12xf32>
    %5 = stablehlo.iota dim = 0 : tensor<12x12xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<12x12xi32>
    %7 = stablehlo.add %5, %6 : tensor<12x12xi32>
    %8 = stablehlo.iota dim = 1 : tensor<12x12xi32>
    %9 = stablehlo.compare GE, %7, %8, SIGNED : (tensor<12x12xi32>, tensor<12x12xi32>) -> tensor<12x12xi1>
    %10 = stablehlo.broadcast_in_dim %9, dims = [1, 2] : (tensor<12x12xi1>) -> tensor<2x12x12xi1>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x12x12xf32>
    %12 = stablehlo.select %10, %4, %11 : tensor<2x12x12xi1>, tensor<2x12x12xf32>
    %13 = stablehlo.iota dim = 0 : tensor<12x12xi32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %14 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<12x12xi32>
    %15 = stablehlo.add %13, %14 : tensor<12x12xi32>
    %16 = stablehlo.iota dim = 1 : tensor<12x12xi32>
    %17 = stablehlo.compare GE, %15, %16, SIGNED : (tensor<12x12xi32>, tensor<12x12xi32>) -> tensor<12x12xi1>
    %18 = stablehlo.broadcast_in_dim %17, dims = [1, 2] : (tensor<12x12xi1>) -> tensor<2x12x12xi1>
    %19 = stablehlo.iota dim = 0 : tensor<12x12xi32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %20 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<12x12xi32>
    %21 = stablehlo.add %19, %20 : tensor<12x12xi32>
    %22 = stablehlo.iota dim = 1 : tensor<12x12xi32>
    %23 = stablehlo.compare EQ, %21, %22, SIGNED : (tensor<12x12xi32>, tensor<12x12xi32>) -> tensor<12x12xi1>
    %24 = stablehlo.convert %23 : (tensor<12x12xi1>) -> tensor<12x12xf32>
    %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %25 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<12x12xf32>
    %26 = stablehlo.add %25, %24 : tensor<12x12xf32>
    %27 = stablehlo.broadcast_in_dim %26, dims = [1, 2] : (tensor<12x12xf32>) -> tensor<1x12x12xf32>
    %28 = stablehlo.iota dim = 0 : tensor<12x12xi32>
    %c_4 = stablehlo.constant dense<0> : tensor<i32>
    %29 = stablehlo.broadcast_in_dim %c_4, dims = [] : (tensor<i32>) -> tensor<12x12xi32>
    %30 = stablehlo.add %28, %29 : tensor<12x12xi32>
    %31 = stablehlo.iota dim = 1 : tensor<12x12xi32>
    %32 = stablehlo.compare GE, %30, %31, SIGNED : (tensor<12x12xi32>, tensor<12x12xi32>) -> tensor<12x12xi1>
    %33 = stablehlo.broadcast_in_dim %32, dims = [1, 2] : (tensor<12x12xi1>) -> tensor<2x12x12xi1>
    return %12, %18, %27, %33 : tensor<2x12x12xf32>, tensor<2x12x12xi1>, tensor<1x12x12xf32>, tensor<2x12x12xi1>
  }
  func.func private @cholesky_0(%arg0: tensor<2x12x12xf32>, %arg1: tensor<2x12x12xi1>, %arg2: tensor<1x12x12xf32>, %arg3: tensor<2x12x12xi1>, %arg4: tensor<2x12x12xf32>) -> tensor<2x12x12xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x12x12xf32>
    %1 = stablehlo.select %arg3, %arg4, %0 : tensor<2x12x12xi1>, tensor<2x12x12xf32>
    %2 = stablehlo.dot_general %1, %arg0, batching_dims = [0] x [0], contracting_dims = [1] x [1], precision = [HIGHEST, HIGHEST] : (tensor<2x12x12xf32>, tensor<2x12x12xf32>) -> tensor<2x12x12xf32>
    %3 = stablehlo.transpose %2, dims = [0, 2, 1] : (tensor<2x12x12xf32>) -> tensor<2x12x12xf32>
    %4 = stablehlo.broadcast_in_dim %arg2, dims = [0, 1, 2] : (tensor<1x12x12xf32>) -> tensor<2x12x12xf32>
    %5 = stablehlo.divide %3, %4 : tensor<2x12x12xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x12x12xf32>
    %7 = stablehlo.select %arg1, %5, %6 : tensor<2x12x12xi1>, tensor<2x12x12xf32>
    %8 = "stablehlo.triangular_solve"(%arg0, %7) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose TRANSPOSE>, unit_diagonal = false}> : (tensor<2x12x12xf32>, tensor<2x12x12xf32>) -> tensor<2x12x12xf32>
    %9 = "stablehlo.triangular_solve"(%arg0, %8) <{left_side = false, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<2x12x12xf32>, tensor<2x12x12xf32>) -> tensor<2x12x12xf32>
    %cst_1 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<2x12x12xf32>
    %11 = stablehlo.divide %9, %10 : tensor<2x12x12xf32>
    %12 = stablehlo.transpose %11, dims = [0, 2, 1] : (tensor<2x12x12xf32>) -> tensor<2x12x12xf32>
    %13 = stablehlo.add %11, %12 : tensor<2x12x12xf32>
    return %13 : tensor<2x12x12xf32>
  }
}
