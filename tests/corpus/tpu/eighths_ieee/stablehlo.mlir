module @jit_eighths_ieee attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @empty_mesh = <[]> {stablehlo.mesh = {axes = []}}
  func.func public @main(%arg0: tensor<12x140xf8E4M3> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}, %arg1: tensor<12x140xf8E3M4> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}, %arg2: tensor<12x140xf8E8M0FNU> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}) -> (tensor<12x140xf8E3M4> {jax.result_info = "result[0]"}, tensor<140x12xf8E4M3> {jax.result_info = "result[1]"}, tensor<10x140xf8E3M4> {jax.result_info = "result[2]"}, tensor<12x140xbf16> {jax.result_info = "result[3]"}) {
    %0 = stablehlo.convert %arg0 : (tensor<12x140xf8E4M3>) -> tensor<12x140xf32>
    %1 = stablehlo.convert %arg1 : (tensor<12x140xf8E3M4>) -> tensor<12x140xf32>
    %2 = stablehlo.multiply %0, %1 : tensor<12x140xf32>
    %3 = stablehlo.convert %2 : (tensor<12x140xf32>) -> tensor<12x140xf8E3M4>
    %4 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<12x140xf8E4M3>) -> tensor<140x12xf8E4M3>
    %5 = stablehlo.slice %arg1 [2:12, 0:140] : (tensor<12x140xf8E3M4>) -> tensor<10x140xf8E3M4>
    %6 = stablehlo.convert %arg2 : (tensor<12x140xf8E8M0FNU>) -> tensor<12x140xbf16>
    return %3, %4, %5, %6 : tensor<12x140xf8E3M4>, tensor<140x12xf8E4M3>, tensor<10x140xf8E3M4>, tensor<12x140xbf16>
  }
}
