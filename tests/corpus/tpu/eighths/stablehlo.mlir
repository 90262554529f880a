module @jit_eighths attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @empty_mesh = <[]> {stablehlo.mesh = {axes = []}}
  func.func public @main(%arg0: tensor<10x256xf8E4M3FN> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}, %arg1: tensor<10x256xf8E5M2> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}) -> (tensor<10x256xf8E4M3FN> {jax.result_info = "result[0]"}, tensor<10x256xf8E5M2> {jax.result_info = "result[1]"}, tensor<256x10xf8E5M2> {jax.result_info = "result[2]"}, tensor<6x183xf8E4M3FN> {jax.result_info = "result[3]"}) {
    %0 = stablehlo.convert %arg0 : (tensor<10x256xf8E4M3FN>) -> tensor<10x256xf32>
    %1 = stablehlo.convert %arg1 : (tensor<10x256xf8E5M2>) -> tensor<10x256xf32>
    %2 = stablehlo.add %0, %1 : tensor<10x256xf32>
    %3 = stablehlo.convert %2 : (tensor<10x256xf32>) -> tensor<10x256xf8E4M3FN>
    %4 = stablehlo.convert %2 : (tensor<10x256xf32>) -> tensor<10x256xf8E5M2>
    %5 = stablehlo.transpose %arg1, dims = [1, 0] : (tensor<10x256xf8E5M2>) -> tensor<256x10xf8E5M2>
    %6 = stablehlo.slice %arg0 [3:9, 17:200] : (tensor<10x256xf8E4M3FN>) -> tensor<6x183xf8E4M3FN>
    return %3, %4, %5, %6 : tensor<10x256xf8E4M3FN>, tensor<10x256xf8E5M2>, tensor<256x10xf8E5M2>, tensor<6x183xf8E4M3FN>
  }
}
