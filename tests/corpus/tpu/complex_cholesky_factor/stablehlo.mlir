module @jit_complex_cholesky_factor attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @empty_mesh = <[]> {stablehlo.mesh = {axes = []}}
  func.func public @main(%arg0: tensor<7x7xcomplex<f32>> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}) -> (tensor<7x7xcomplex<f32>> {jax.result_info = "result"}) {
    %0 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<7x7xcomplex<f32>>) -> tensor<7x7xcomplex<f32>>
    %1 = stablehlo.real %0 : (tensor<7x7xcomplex<f32>>) -> tensor<7x7xf32>
    %2 = stablehlo.imag %0 : (tensor<7x7xcomplex<f32>>) -> tensor<7x7xf32>
    %3 = stablehlo.negate %2 : tensor<7x7xf32>
    %4 = stablehlo.complex %1, %3 : tensor<7x7xcomplex<f32>>
    %5 = stablehlo.dot_general %arg0, %4, contracting_dims = [1] x [0], precision = [HIGHEST, HIGHEST] : (tensor<7x7xcomplex<f32>>, tensor<7x7xcomplex<f32>>) -> tensor<7x7xcomplex<f32>>
    %cst = stablehlo.constant dense<(7.000000e+00,0.000000e+00)> : tensor<complex<f32>>
    %6 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<complex<f32>>) -> tensor<7x7xcomplex<f32>>
    %7 = stablehlo.divide %5, %6 : tensor<7x7xcomplex<f32>>
    %8 = stablehlo.iota dim = 0 : tensor<7x7xi32>
    %9 = stablehlo.iota dim = 1 : tensor<7x7xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %10 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<7x7xi32>
    %11 = stablehlo.add %8, %10 : tensor<7x7xi32>
    %12 = stablehlo.compare EQ, %11, %9, SIGNED : (tensor<7x7xi32>, tensor<7x7xi32>) -> tensor<7x7xi1>
    %13 = stablehlo.convert %12 : (tensor<7x7xi1>) -> tensor<7x7xcomplex<f32>>
    %14 = stablehlo.add %7, %13 : tensor<7x7xcomplex<f32>>
    %15 = call @cholesky(%14) : (tensor<7x7xcomplex<f32>>) -> tensor<7x7xcomplex<f32>>
    return %15 : tensor<7x7xcomplex<f32>>
  }
  func.func private @cholesky(%arg0: tensor<7x7xcomplex<f32>>) -> tensor<7x7xcomplex<f32>> {
    %0 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<7x7xcomplex<f32>>) -> tensor<7x7xcomplex<f32>>
    %1 = stablehlo.real %0 : (tensor<7x7xcomplex<f32>>) -> tensor<7x7xf32>
    %2 = stablehlo.imag %0 : (tensor<7x7xcomplex<f32>>) -> tensor<7x7xf32>
    %3 = stablehlo.negate %2 : tensor<7x7xf32>
    %4 = stablehlo.complex %1, %3 : tensor<7x7xcomplex<f32>>
    %5 = stablehlo.add %arg0, %4 : tensor<7x7xcomplex<f32>>
    %cst = stablehlo.constant dense<(2.000000e+00,0.000000e+00)> : tensor<complex<f32>>
    %6 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<complex<f32>>) -> tensor<7x7xcomplex<f32>>
    %7 = stablehlo.divide %5, %6 : tensor<7x7xcomplex<f32>>
    %8 = stablehlo.cholesky %7, lower = true : tensor<7x7xcomplex<f32>>
    %9 = stablehlo.iota dim = 0 : tensor<7x7xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %10 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<7x7xi32>
    %11 = stablehlo.add %9, %10 : tensor<7x7xi32>
    %12 = stablehlo.iota dim = 1 : tensor<7x7xi32>
    %13 = stablehlo.compare GE, %11, %12, SIGNED : (tensor<7x7xi32>, tensor<7x7xi32>) -> tensor<7x7xi1>
    %cst_0 = stablehlo.constant dense<(0.000000e+00,0.000000e+00)> : tensor<complex<f32>>
    %14 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<complex<f32>>) -> tensor<7x7xcomplex<f32>>
    %15 = stablehlo.select %13, %8, %14 : tensor<7x7xi1>, tensor<7x7xcomplex<f32>>
    return %15 : tensor<7x7xcomplex<f32>>
  }
}
