module @jit_half_precision attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @empty_mesh = <[]> {stablehlo.mesh = {axes = []}}
  func.func public @main(%arg0: tensor<12x200xf16> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}, %arg1: tensor<200x12xf16> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}) -> (tensor<12x200xf16> {jax.result_info = "result[0]"}, tensor<12xf16> {jax.result_info = "result[1]"}, tensor<12x200xf16> {jax.result_info = "result[2]"}) {
    %0 = stablehlo.transpose %arg1, dims = [1, 0] : (tensor<200x12xf16>) -> tensor<12x200xf16>
    %1 = stablehlo.multiply %arg0, %0 : tensor<12x200xf16>
    %cst = stablehlo.constant dense<5.000000e-01> : tensor<f16>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f16>) -> tensor<12x200xf16>
    %3 = stablehlo.add %1, %2 : tensor<12x200xf16>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f16>
    %4 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f16>) -> tensor<12x200xf16>
    %5 = stablehlo.maximum %arg0, %4 : tensor<12x200xf16>
    %6 = stablehlo.convert %5 : (tensor<12x200xf16>) -> tensor<12x200xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.reduce(%6 init: %cst_1) applies stablehlo.add across dimensions = [1] : (tensor<12x200xf32>, tensor<f32>) -> tensor<12xf32>
    %8 = stablehlo.convert %7 : (tensor<12xf32>) -> tensor<12xf16>
    %9 = stablehlo.convert %arg0 : (tensor<12x200xf16>) -> tensor<12x200xf32>
    %10 = stablehlo.tanh %9 : tensor<12x200xf32>
    %11 = stablehlo.convert %10 : (tensor<12x200xf32>) -> tensor<12x200xf16>
    return %3, %8, %11 : tensor<12x200xf16>, tensor<12xf16>, tensor<12x200xf16>
  }
}
