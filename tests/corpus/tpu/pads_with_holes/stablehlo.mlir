module @jit_pads_with_holes attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @empty_mesh = <[]> {stablehlo.mesh = {axes = []}}
  func.func public @main(%arg0: tensor<9x210xf32> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}, %arg1: tensor<17x30xbf16> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}) -> (tensor<10x390xf32> {jax.result_info = "result[0]"}, tensor<67x21xbf16> {jax.result_info = "result[1]"}, tensor<12x217xf32> {jax.result_info = "result[2]"}) {
    %cst = stablehlo.constant dense<1.500000e+00> : tensor<f32>
    %0 = stablehlo.pad %arg0, %cst, low = [-2, 1], high = [3, -30], interior = [0, 1] : (tensor<9x210xf32>, tensor<f32>) -> tensor<10x390xf32>
    %cst_0 = stablehlo.constant dense<-1.000000e+00> : tensor<bf16>
    %1 = stablehlo.pad %arg1, %cst_0, low = [0, -4], high = [2, -5], interior = [3, 0] : (tensor<17x30xbf16>, tensor<bf16>) -> tensor<67x21xbf16>
    %2 = call @_pad(%arg0) : (tensor<9x210xf32>) -> tensor<12x217xf32>
    return %0, %1, %2 : tensor<10x390xf32>, tensor<67x21xbf16>, tensor<12x217xf32>
  }
  func.func private @_pad(%arg0: tensor<9x210xf32>) -> tensor<12x217xf32> {
    %0 = stablehlo.slice %arg0 [1:3, 0:210] : (tensor<9x210xf32>) -> tensor<2x210xf32>
    %1 = call @_flip(%0) : (tensor<2x210xf32>) -> tensor<2x210xf32>
    %2 = stablehlo.concatenate %1, %arg0, dim = 0 : (tensor<2x210xf32>, tensor<9x210xf32>) -> tensor<11x210xf32>
    %3 = stablehlo.slice %2 [9:10, 0:210] : (tensor<11x210xf32>) -> tensor<1x210xf32>
    %4 = call @_flip_0(%3) : (tensor<1x210xf32>) -> tensor<1x210xf32>
    %5 = stablehlo.concatenate %2, %4, dim = 0 : (tensor<11x210xf32>, tensor<1x210xf32>) -> tensor<12x210xf32>
    %6 = stablehlo.slice %5 [0:12, 1:4] : (tensor<12x210xf32>) -> tensor<12x3xf32>
    %7 = call @_flip_1(%6) : (tensor<12x3xf32>) -> tensor<12x3xf32>
    %8 = stablehlo.concatenate %7, %5, dim = 1 : (tensor<12x3xf32>, tensor<12x210xf32>) -> tensor<12x213xf32>
    %9 = stablehlo.slice %8 [0:12, 208:212] : (tensor<12x213xf32>) -> tensor<12x4xf32>
    %10 = call @_flip_2(%9) : (tensor<12x4xf32>) -> tensor<12x4xf32>
    %11 = stablehlo.concatenate %8, %10, dim = 1 : (tensor<12x213xf32>, tensor<12x4xf32>) -> tensor<12x217xf32>
    return %11 : tensor<12x217xf32>
  }
  func.func private @_flip(%arg0: tensor<2x210xf32>) -> tensor<2x210xf32> {
    %0 = stablehlo.reverse %arg0, dims = [0] : tensor<2x210xf32>
    return %0 : tensor<2x210xf32>
  }
  func.func private @_flip_0(%arg0: tensor<1x210xf32>) -> tensor<1x210xf32> {
    %0 = stablehlo.reverse %arg0, dims = [0] : tensor<1x210xf32>
    return %0 : tensor<1x210xf32>
  }
  func.func private @_flip_1(%arg0: tensor<12x3xf32>) -> tensor<12x3xf32> {
    %0 = stablehlo.reverse %arg0, dims = [1] : tensor<12x3xf32>
    return %0 : tensor<12x3xf32>
  }
  func.func private @_flip_2(%arg0: tensor<12x4xf32>) -> tensor<12x4xf32> {
    %0 = stablehlo.reverse %arg0, dims = [1] : tensor<12x4xf32>
    return %0 : tensor<12x4xf32>
  }
}
