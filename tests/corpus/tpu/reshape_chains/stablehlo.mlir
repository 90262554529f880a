module @jit_reshape_chains attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @empty_mesh = <[]> {stablehlo.mesh = {axes = []}}
  func.func public @main(%arg0: tensor<10x18x5x7xi16> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}, {}, {}]>}, %arg1: tensor<1x600xf32> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}) -> (tensor<7x900xi16> {jax.result_info = "result[0]"}, tensor<4x150xf32> {jax.result_info = "result[1]"}, tensor<70x90xi16> {jax.result_info = "result[2]"}, tensor<600x1xf32> {jax.result_info = "result[3]"}) {
    %0 = stablehlo.reshape %arg0 : (tensor<10x18x5x7xi16>) -> tensor<180x35xi16>
    %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<180x35xi16>) -> tensor<35x180xi16>
    %2 = stablehlo.reshape %1 : (tensor<35x180xi16>) -> tensor<7x900xi16>
    %3 = stablehlo.reshape %arg1 : (tensor<1x600xf32>) -> tensor<20x30xf32>
    %4 = stablehlo.transpose %3, dims = [1, 0] : (tensor<20x30xf32>) -> tensor<30x20xf32>
    %5 = stablehlo.reshape %4 : (tensor<30x20xf32>) -> tensor<4x150xf32>
    %6 = stablehlo.transpose %arg0, dims = [3, 0, 2, 1] : (tensor<10x18x5x7xi16>) -> tensor<7x10x5x18xi16>
    %7 = stablehlo.reshape %6 : (tensor<7x10x5x18xi16>) -> tensor<70x90xi16>
    %8 = stablehlo.reshape %arg1 : (tensor<1x600xf32>) -> tensor<600x1xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<600x1xf32>
    %10 = stablehlo.add %8, %9 : tensor<600x1xf32>
    return %2, %5, %7, %10 : tensor<7x900xi16>, tensor<4x150xf32>, tensor<70x90xi16>, tensor<600x1xf32>
  }
}
