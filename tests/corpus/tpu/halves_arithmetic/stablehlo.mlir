module @jit_halves_arithmetic attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @empty_mesh = <[]> {stablehlo.mesh = {axes = []}}
  func.func public @main(%arg0: tensor<20x260xi16> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}, %arg1: tensor<260x20xui16> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}) -> (tensor<20x260xi16> {jax.result_info = "result[0]"}, tensor<20xui32> {jax.result_info = "result[1]"}, tensor<10x260xi16> {jax.result_info = "result[2]"}, tensor<130x40xui16> {jax.result_info = "result[3]"}) {
    %c = stablehlo.constant dense<5> : tensor<i16>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i16>) -> tensor<20x260xi16>
    %1 = stablehlo.multiply %arg0, %0 : tensor<20x260xi16>
    %2 = stablehlo.transpose %arg1, dims = [1, 0] : (tensor<260x20xui16>) -> tensor<20x260xui16>
    %3 = stablehlo.convert %2 : (tensor<20x260xui16>) -> tensor<20x260xi16>
    %4 = stablehlo.add %1, %3 : tensor<20x260xi16>
    %5 = stablehlo.convert %arg1 : (tensor<260x20xui16>) -> tensor<260x20xui32>
    %c_0 = stablehlo.constant dense<0> : tensor<ui32>
    %6 = stablehlo.reduce(%5 init: %c_0) applies stablehlo.add across dimensions = [0] : (tensor<260x20xui32>, tensor<ui32>) -> tensor<20xui32>
    %7 = stablehlo.slice %arg0 [0:20:2, 0:260] : (tensor<20x260xi16>) -> tensor<10x260xi16>
    %8 = stablehlo.abs %7 : tensor<10x260xi16>
    %c_1 = stablehlo.constant dense<3> : tensor<ui16>
    %9 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<ui16>) -> tensor<260x20xui16>
    %10 = stablehlo.shift_right_logical %arg1, %9 : tensor<260x20xui16>
    %11 = stablehlo.reshape %10 : (tensor<260x20xui16>) -> tensor<130x40xui16>
    return %4, %6, %8, %11 : tensor<20x260xi16>, tensor<20xui32>, tensor<10x260xi16>, tensor<130x40xui16>
  }
}
