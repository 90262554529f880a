module @jit_eighths_fnuz attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @empty_mesh = <[]> {stablehlo.mesh = {axes = []}}
  func.func public @main(%arg0: tensor<9x130xf8E4M3FNUZ> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}, %arg1: tensor<9x130xf8E5M2FNUZ> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}) -> (tensor<9x130xf32> {jax.result_info = "result[0]"}, tensor<130x9xf8E4M3FNUZ> {jax.result_info = "result[1]"}, tensor<130x9xf8E5M2FNUZ> {jax.result_info = "result[2]"}) {
    %0 = stablehlo.convert %arg0 : (tensor<9x130xf8E4M3FNUZ>) -> tensor<9x130xf32>
    %1 = stablehlo.convert %arg1 : (tensor<9x130xf8E5M2FNUZ>) -> tensor<9x130xf32>
    %2 = stablehlo.add %0, %1 : tensor<9x130xf32>
    %3 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<9x130xf8E4M3FNUZ>) -> tensor<130x9xf8E4M3FNUZ>
    %4 = stablehlo.reshape %arg1 : (tensor<9x130xf8E5M2FNUZ>) -> tensor<130x9xf8E5M2FNUZ>
    return %2, %3, %4 : tensor<9x130xf32>, tensor<130x9xf8E4M3FNUZ>, tensor<130x9xf8E5M2FNUZ>
  }
}
