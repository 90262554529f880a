module @jit_gathered_weights attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=4]> {stablehlo.mesh = {axes = [{name = "x", size = 4 : i64}]}}
  func.func public @main(%arg0: tensor<256x128xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg1: tensor<128x64xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<256xf32> {jax.result_info = "result[0]"}, tensor<4x64xbf16> {jax.result_info = "result[1]"}) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<256x128xbf16>, tensor<128x64xbf16>) -> tensor<256x64xbf16>
    %1 = call @relu(%0) : (tensor<256x64xbf16>) -> tensor<256x64xbf16>
    %2 = stablehlo.transpose %arg1, dims = [1, 0] : (tensor<128x64xbf16>) -> tensor<64x128xbf16>
    %3 = stablehlo.dot_general %1, %2, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<256x64xbf16>, tensor<64x128xbf16>) -> tensor<256x128xbf16>
    %4 = stablehlo.convert %3 : (tensor<256x128xbf16>) -> tensor<256x128xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %5 = stablehlo.reduce(%4 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<256x128xf32>, tensor<f32>) -> tensor<256xf32>
    %6 = stablehlo.slice %1 [0:256:64, 0:64] : (tensor<256x64xbf16>) -> tensor<4x64xbf16>
    return %5, %6 : tensor<256xf32>, tensor<4x64xbf16>
  }
  func.func private @relu(%arg0: tensor<256x64xbf16>) -> tensor<256x64xbf16> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<bf16>) -> tensor<256x64xbf16>
    %1 = stablehlo.maximum %arg0, %0 : tensor<256x64xbf16>
    return %1 : tensor<256x64xbf16>
  }
}
