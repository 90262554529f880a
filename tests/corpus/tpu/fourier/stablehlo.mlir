module @jit_fourier attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @empty_mesh = <[]> {stablehlo.mesh = {axes = []}}
  func.func public @main(%arg0: tensor<6x32xf32> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}, %arg1: tensor<12x16xf32> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}) -> (tensor<6x32xcomplex<f32>> {jax.result_info = "result[0]"}, tensor<12x16xf32> {jax.result_info = "result[1]"}, tensor<12x16xf32> {jax.result_info = "result[2]"}) {
    %0 = call @fft(%arg0) : (tensor<6x32xf32>) -> tensor<6x32xcomplex<f32>>
    %1 = call @fft_0(%arg1) : (tensor<12x16xf32>) -> tensor<12x9xcomplex<f32>>
    %cst = stablehlo.constant dense<(2.000000e+00,0.000000e+00)> : tensor<complex<f32>>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<complex<f32>>) -> tensor<12x9xcomplex<f32>>
    %3 = stablehlo.multiply %1, %2 : tensor<12x9xcomplex<f32>>
    %4 = call @fft_1(%3) : (tensor<12x9xcomplex<f32>>) -> tensor<12x16xf32>
    %5 = call @fft_2(%arg1) : (tensor<12x16xf32>) -> tensor<12x16xcomplex<f32>>
    %6 = stablehlo.abs %5 : (tensor<12x16xcomplex<f32>>) -> tensor<12x16xf32>
    return %0, %4, %6 : tensor<6x32xcomplex<f32>>, tensor<12x16xf32>, tensor<12x16xf32>
  }
  func.func private @fft(%arg0: tensor<6x32xf32>) -> tensor<6x32xcomplex<f32>> {
    %0 = stablehlo.convert %arg0 : (tensor<6x32xf32>) -> tensor<6x32xcomplex<f32>>
    %1 = stablehlo.fft %0, type = FFT, length = [32] : (tensor<6x32xcomplex<f32>>) -> tensor<6x32xcomplex<f32>>
    return %1 : tensor<6x32xcomplex<f32>>
  }
  func.func private @fft_0(%arg0: tensor<12x16xf32>) -> tensor<12x9xcomplex<f32>> {
    %0 = stablehlo.fft %arg0, type = RFFT, length = [16] : (tensor<12x16xf32>) -> tensor<12x9xcomplex<f32>>
    return %0 : tensor<12x9xcomplex<f32>>
  }
  func.func private @fft_1(%arg0: tensor<12x9xcomplex<f32>>) -> tensor<12x16xf32> {
    %0 = stablehlo.fft %arg0, type = IRFFT, length = [16] : (tensor<12x9xcomplex<f32>>) -> tensor<12x16xf32>
    return %0 : tensor<12x16xf32>
  }
  func.func private @fft_2(%arg0: tensor<12x16xf32>) -> tensor<12x16xcomplex<f32>> {
    %0 = stablehlo.convert %arg0 : (tensor<12x16xf32>) -> tensor<12x16xcomplex<f32>>
    %1 = stablehlo.fft %0, type = FFT, length = [12, 16] : (tensor<12x16xcomplex<f32>>) -> tensor<12x16xcomplex<f32>>
    return %1 : tensor<12x16xcomplex<f32>>
  }
}
