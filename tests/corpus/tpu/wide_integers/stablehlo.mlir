module @jit_wide_integers attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @empty_mesh = <[]> {stablehlo.mesh = {axes = []}}
  func.func public @main(%arg0: tensor<7x66xui64> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}, %arg1: tensor<7x66xi64> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}) -> (tensor<7x66xui64> {jax.result_info = "result[0]"}, tensor<7x66xi64> {jax.result_info = "result[1]"}, tensor<7x66xui32> {jax.result_info = "result[2]"}, tensor<7xi64> {jax.result_info = "result[3]"}, tensor<7x66xi64> {jax.result_info = "result[4]"}) {
    %c = stablehlo.constant dense<3> : tensor<ui64>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<ui64>) -> tensor<7x66xui64>
    %1 = stablehlo.multiply %arg0, %0 : tensor<7x66xui64>
    %2 = stablehlo.convert %arg1 : (tensor<7x66xi64>) -> tensor<7x66xui64>
    %3 = stablehlo.add %1, %2 : tensor<7x66xui64>
    %c_0 = stablehlo.constant dense<32767> : tensor<i64>
    %4 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i64>) -> tensor<7x66xi64>
    %5 = stablehlo.and %arg1, %4 : tensor<7x66xi64>
    %c_1 = stablehlo.constant dense<33> : tensor<ui64>
    %6 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<ui64>) -> tensor<7x66xui64>
    %7 = stablehlo.shift_right_logical %arg0, %6 : tensor<7x66xui64>
    %8 = stablehlo.convert %7 : (tensor<7x66xui64>) -> tensor<7x66xui32>
    %9 = stablehlo.transpose %arg1, dims = [1, 0] : (tensor<7x66xi64>) -> tensor<66x7xi64>
    %c_2 = stablehlo.constant dense<0> : tensor<i64>
    %10 = stablehlo.reduce(%9 init: %c_2) applies stablehlo.add across dimensions = [0] : (tensor<66x7xi64>, tensor<i64>) -> tensor<7xi64>
    %c_3 = stablehlo.constant dense<-5> : tensor<i64>
    %11 = stablehlo.broadcast_in_dim %c_3, dims = [] : (tensor<i64>) -> tensor<7x66xi64>
    %12 = stablehlo.maximum %arg1, %11 : tensor<7x66xi64>
    return %3, %5, %8, %10, %12 : tensor<7x66xui64>, tensor<7x66xi64>, tensor<7x66xui32>, tensor<7xi64>, tensor<7x66xi64>
  }
}
