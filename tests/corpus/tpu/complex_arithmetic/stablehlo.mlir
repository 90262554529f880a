module @jit_complex_arithmetic attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @empty_mesh = <[]> {stablehlo.mesh = {axes = []}}
  func.func public @main(%arg0: tensor<5x150xcomplex<f32>> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}, %arg1: tensor<5x150xcomplex<f32>> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}) -> (tensor<5x150xcomplex<f32>> {jax.result_info = "result[0]"}, tensor<5x150xf32> {jax.result_info = "result[1]"}, tensor<150x5xcomplex<f32>> {jax.result_info = "result[2]"}, tensor<5x150xcomplex<f32>> {jax.result_info = "result[3]"}) {
    %0 = stablehlo.real %arg1 : (tensor<5x150xcomplex<f32>>) -> tensor<5x150xf32>
    %1 = stablehlo.imag %arg1 : (tensor<5x150xcomplex<f32>>) -> tensor<5x150xf32>
    %2 = stablehlo.negate %1 : tensor<5x150xf32>
    %3 = stablehlo.complex %0, %2 : tensor<5x150xcomplex<f32>>
    %4 = stablehlo.multiply %arg0, %3 : tensor<5x150xcomplex<f32>>
    %5 = stablehlo.abs %arg0 : (tensor<5x150xcomplex<f32>>) -> tensor<5x150xf32>
    %cst = stablehlo.constant dense<(0.000000e+00,1.000000e+00)> : tensor<complex<f32>>
    %6 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<complex<f32>>) -> tensor<5x150xcomplex<f32>>
    %7 = stablehlo.add %arg0, %6 : tensor<5x150xcomplex<f32>>
    %8 = stablehlo.transpose %7, dims = [1, 0] : (tensor<5x150xcomplex<f32>>) -> tensor<150x5xcomplex<f32>>
    %9 = stablehlo.imag %arg0 : (tensor<5x150xcomplex<f32>>) -> tensor<5x150xf32>
    %10 = stablehlo.real %arg1 : (tensor<5x150xcomplex<f32>>) -> tensor<5x150xf32>
    %11 = stablehlo.complex %9, %10 : tensor<5x150xcomplex<f32>>
    return %4, %5, %8, %11 : tensor<5x150xcomplex<f32>>, tensor<5x150xf32>, tensor<150x5xcomplex<f32>>, tensor<5x150xcomplex<f32>>
  }
}
