module @jit_product_added_to_a_matrix attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @empty_mesh = <[]> {stablehlo.mesh = {axes = []}}
  func.func public @main(%arg0: tensor<16x32xf16> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}, %arg1: tensor<32x24xf16> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}, %arg2: tensor<16x24xf16> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}, %arg3: tensor<24xf16> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}]>}) -> (tensor<16x24xf16> {jax.result_info = "result[0]"}, tensor<16x24xf16> {jax.result_info = "result[1]"}, tensor<16x24xf16> {jax.result_info = "result[2]"}, tensor<16x24xf16> {jax.result_info = "result[3]"}) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x32xf16>, tensor<32x24xf16>) -> tensor<16x24xf16>
    %1 = stablehlo.add %0, %arg2 : tensor<16x24xf16>
    %2 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x32xf16>, tensor<32x24xf16>) -> tensor<16x24xf16>
    %cst = stablehlo.constant dense<5.000000e-01> : tensor<f16>
    %3 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f16>) -> tensor<16x24xf16>
    %4 = stablehlo.multiply %3, %2 : tensor<16x24xf16>
    %cst_0 = stablehlo.constant dense<2.000000e+00> : tensor<f16>
    %5 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f16>) -> tensor<16x24xf16>
    %6 = stablehlo.multiply %arg2, %5 : tensor<16x24xf16>
    %7 = stablehlo.add %4, %6 : tensor<16x24xf16>
    %8 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x32xf16>, tensor<32x24xf16>) -> tensor<16x24xf16>
    %9 = stablehlo.add %8, %arg2 : tensor<16x24xf16>
    %10 = stablehlo.broadcast_in_dim %arg3, dims = [1] : (tensor<24xf16>) -> tensor<1x24xf16>
    %11 = stablehlo.broadcast_in_dim %10, dims = [0, 1] : (tensor<1x24xf16>) -> tensor<16x24xf16>
    %12 = stablehlo.add %9, %11 : tensor<16x24xf16>
    %13 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x32xf16>, tensor<32x24xf16>) -> tensor<16x24xf16>
    %14 = stablehlo.add %13, %arg2 : tensor<16x24xf16>
    %15 = call @relu(%14) : (tensor<16x24xf16>) -> tensor<16x24xf16>
    return %1, %7, %12, %15 : tensor<16x24xf16>, tensor<16x24xf16>, tensor<16x24xf16>, tensor<16x24xf16>
  }
  func.func private @relu(%arg0: tensor<16x24xf16>) -> tensor<16x24xf16> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f16>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f16>) -> tensor<16x24xf16>
    %1 = stablehlo.maximum %arg0, %0 : tensor<16x24xf16>
    return %1 : tensor<16x24xf16>
  }
}
