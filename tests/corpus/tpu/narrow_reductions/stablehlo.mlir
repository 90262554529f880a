module @jit_narrow_reductions attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @empty_mesh = <[]> {stablehlo.mesh = {axes = []}}
  func.func public @main(%arg0: tensor<11x256xbf16> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}, %arg1: tensor<11x256xi8> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}) -> (tensor<11xbf16> {jax.result_info = "result[0]"}, tensor<256xbf16> {jax.result_info = "result[1]"}, tensor<i32> {jax.result_info = "result[2]"}, tensor<11xi8> {jax.result_info = "result[3]"}, tensor<256xi1> {jax.result_info = "result[4]"}, tensor<f32> {jax.result_info = "result[5]"}) {
    %0 = stablehlo.convert %arg0 : (tensor<11x256xbf16>) -> tensor<11x256xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<11x256xf32>, tensor<f32>) -> tensor<11xf32>
    %2 = stablehlo.convert %1 : (tensor<11xf32>) -> tensor<11xbf16>
    %cst_0 = stablehlo.constant dense<0xFF80> : tensor<bf16>
    %3 = stablehlo.reduce(%arg0 init: %cst_0) applies stablehlo.maximum across dimensions = [0] : (tensor<11x256xbf16>, tensor<bf16>) -> tensor<256xbf16>
    %4 = stablehlo.convert %arg1 : (tensor<11x256xi8>) -> tensor<11x256xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %5 = stablehlo.reduce(%4 init: %c) applies stablehlo.add across dimensions = [0, 1] : (tensor<11x256xi32>, tensor<i32>) -> tensor<i32>
    %c_1 = stablehlo.constant dense<127> : tensor<i8>
    %6 = stablehlo.reduce(%arg1 init: %c_1) applies stablehlo.minimum across dimensions = [1] : (tensor<11x256xi8>, tensor<i8>) -> tensor<11xi8>
    %c_2 = stablehlo.constant dense<120> : tensor<i8>
    %7 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i8>) -> tensor<11x256xi8>
    %8 = stablehlo.compare GT, %arg1, %7, SIGNED : (tensor<11x256xi8>, tensor<11x256xi8>) -> tensor<11x256xi1>
    %c_3 = stablehlo.constant dense<false> : tensor<i1>
    %9 = stablehlo.reduce(%8 init: %c_3) applies stablehlo.or across dimensions = [0] : (tensor<11x256xi1>, tensor<i1>) -> tensor<256xi1>
    %10 = stablehlo.convert %arg0 : (tensor<11x256xbf16>) -> tensor<11x256xf32>
    %11 = call @norm(%10) : (tensor<11x256xf32>) -> tensor<f32>
    return %2, %3, %5, %6, %9, %11 : tensor<11xbf16>, tensor<256xbf16>, tensor<i32>, tensor<11xi8>, tensor<256xi1>, tensor<f32>
  }
  func.func private @norm(%arg0: tensor<11x256xf32>) -> tensor<f32> {
    %0 = stablehlo.multiply %arg0, %arg0 : tensor<11x256xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [0, 1] : (tensor<11x256xf32>, tensor<f32>) -> tensor<f32>
    %2 = stablehlo.sqrt %1 : tensor<f32>
    return %2 : tensor<f32>
  }
}
