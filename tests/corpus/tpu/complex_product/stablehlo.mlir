module @jit_complex_product attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @empty_mesh = <[]> {stablehlo.mesh = {axes = []}}
  func.func public @main(%arg0: tensor<9x14xcomplex<f32>> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}, %arg1: tensor<14x20xcomplex<f32>> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}) -> (tensor<9x20xcomplex<f32>> {jax.result_info = "result[0]"}, tensor<9x14xcomplex<f32>> {jax.result_info = "result[1]"}, tensor<14x9xcomplex<f32>> {jax.result_info = "result[2]"}) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<9x14xcomplex<f32>>, tensor<14x20xcomplex<f32>>) -> tensor<9x20xcomplex<f32>>
    %1 = stablehlo.real %arg0 : (tensor<9x14xcomplex<f32>>) -> tensor<9x14xf32>
    %2 = stablehlo.convert %1 : (tensor<9x14xf32>) -> tensor<9x14xcomplex<f32>>
    %cst = stablehlo.constant dense<(0.000000e+00,1.000000e+00)> : tensor<complex<f32>>
    %3 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<complex<f32>>) -> tensor<9x14xcomplex<f32>>
    %4 = stablehlo.multiply %3, %2 : tensor<9x14xcomplex<f32>>
    %5 = stablehlo.exponential %4 : tensor<9x14xcomplex<f32>>
    %6 = stablehlo.imag %arg0 : (tensor<9x14xcomplex<f32>>) -> tensor<9x14xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<9x14xf32>
    %8 = stablehlo.compare GT, %6, %7, FLOAT : (tensor<9x14xf32>, tensor<9x14xf32>) -> tensor<9x14xi1>
    %9 = stablehlo.real %arg0 : (tensor<9x14xcomplex<f32>>) -> tensor<9x14xf32>
    %10 = stablehlo.imag %arg0 : (tensor<9x14xcomplex<f32>>) -> tensor<9x14xf32>
    %11 = stablehlo.negate %10 : tensor<9x14xf32>
    %12 = stablehlo.complex %9, %11 : tensor<9x14xcomplex<f32>>
    %13 = call @_where(%8, %arg0, %12) : (tensor<9x14xi1>, tensor<9x14xcomplex<f32>>, tensor<9x14xcomplex<f32>>) -> tensor<9x14xcomplex<f32>>
    %14 = stablehlo.transpose %13, dims = [1, 0] : (tensor<9x14xcomplex<f32>>) -> tensor<14x9xcomplex<f32>>
    return %0, %5, %14 : tensor<9x20xcomplex<f32>>, tensor<9x14xcomplex<f32>>, tensor<14x9xcomplex<f32>>
  }
  func.func private @_where(%arg0: tensor<9x14xi1>, %arg1: tensor<9x14xcomplex<f32>>, %arg2: tensor<9x14xcomplex<f32>>) -> tensor<9x14xcomplex<f32>> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<9x14xi1>, tensor<9x14xcomplex<f32>>
    return %0 : tensor<9x14xcomplex<f32>>
  }
}
