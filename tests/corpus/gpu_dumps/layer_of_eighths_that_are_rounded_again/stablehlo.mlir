module @jit_layer_of_eighths_that_are_rounded_again attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @empty_mesh = <[]> {stablehlo.mesh = {axes = []}}
  func.func public @main(%arg0: tensor<64x64xf8E4M3FN> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}, %arg1: tensor<64x64xf8E5M2> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}, %arg2: tensor<f32> {sdy.sharding = #sdy.sharding<@empty_mesh, []>}, %arg3: tensor<64xbf16> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}]>}) -> (tensor<64x64xf8E4M3FN> {jax.result_info = "result"}) {
    %0 = stablehlo.convert %arg0 : (tensor<64x64xf8E4M3FN>) -> tensor<64x64xbf16>
    %1 = stablehlo.convert %arg2 : (tensor<f32>) -> tensor<bf16>
    %2 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<bf16>) -> tensor<64x64xbf16>
    %3 = stablehlo.multiply %0, %2 : tensor<64x64xbf16>
    %4 = stablehlo.convert %arg1 : (tensor<64x64xf8E5M2>) -> tensor<64x64xbf16>
    %5 = stablehlo.convert %arg2 : (tensor<f32>) -> tensor<bf16>
    %6 = stablehlo.broadcast_in_dim %5, dims = [] : (tensor<bf16>) -> tensor<64x64xbf16>
    %7 = stablehlo.multiply %4, %6 : tensor<64x64xbf16>
    %8 = stablehlo.dot_general %3, %7, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xbf16>, tensor<64x64xbf16>) -> tensor<64x64xbf16>
    %9 = stablehlo.broadcast_in_dim %arg3, dims = [1] : (tensor<64xbf16>) -> tensor<1x64xbf16>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1] : (tensor<1x64xbf16>) -> tensor<64x64xbf16>
    %11 = stablehlo.add %8, %10 : tensor<64x64xbf16>
    %12 = call @relu(%11) : (tensor<64x64xbf16>) -> tensor<64x64xbf16>
    %13 = stablehlo.convert %arg2 : (tensor<f32>) -> tensor<bf16>
    %14 = stablehlo.broadcast_in_dim %13, dims = [] : (tensor<bf16>) -> tensor<64x64xbf16>
    %15 = stablehlo.divide %12, %14 : tensor<64x64xbf16>
    %cst = stablehlo.constant dense<6.400000e+01> : tensor<bf16>
    %16 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<bf16>) -> tensor<64x64xbf16>
    %17 = stablehlo.divide %15, %16 : tensor<64x64xbf16>
    %c = stablehlo.constant dense<-448> : tensor<i32>
    %c_0 = stablehlo.constant dense<448> : tensor<i32>
    %18 = call @clip(%17, %c, %c_0) : (tensor<64x64xbf16>, tensor<i32>, tensor<i32>) -> tensor<64x64xbf16>
    %19 = stablehlo.convert %18 : (tensor<64x64xbf16>) -> tensor<64x64xf8E4M3FN>
    return %19 : tensor<64x64xf8E4M3FN>
  }
  func.func private @relu(%arg0: tensor<64x64xbf16>) -> tensor<64x64xbf16> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<bf16>) -> tensor<64x64xbf16>
    %1 = stablehlo.maximum %arg0, %0 : tensor<64x64xbf16>
    return %1 : tensor<64x64xbf16>
  }
  func.func private @clip(%arg0: tensor<64x64xbf16>, %arg1: tensor<i32>, %arg2: tensor<i32>) -> tensor<64x64xbf16> {
    %0 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<bf16>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<bf16>) -> tensor<64x64xbf16>
    %2 = stablehlo.maximum %1, %arg0 : tensor<64x64xbf16>
    %3 = stablehlo.convert %arg2 : (tensor<i32>) -> tensor<bf16>
    %4 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<bf16>) -> tensor<64x64xbf16>
    %5 = stablehlo.minimum %4, %2 : tensor<64x64xbf16>
    return %5 : tensor<64x64xbf16>
  }
}
