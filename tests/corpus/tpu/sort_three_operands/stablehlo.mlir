module @jit_sort_three_operands attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @empty_mesh = <[]> {stablehlo.mesh = {axes = []}}
  func.func public @main(%arg0: tensor<12x300xi32> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}, %arg1: tensor<12x300xf32> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}, %arg2: tensor<12x300xui8> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}) -> (tensor<12x300xi32> {jax.result_info = "result[0]"}, tensor<12x300xf32> {jax.result_info = "result[1]"}, tensor<12x300xui8> {jax.result_info = "result[2]"}) {
    %0:3 = "stablehlo.sort"(%arg0, %arg1, %arg2) <{dimension = 1 : i64, is_stable = true}> ({
    ^bb0(%arg3: tensor<i32>, %arg4: tensor<i32>, %arg5: tensor<f32>, %arg6: tensor<f32>, %arg7: tensor<ui8>, %arg8: tensor<ui8>):
      %1 = stablehlo.compare LT, %arg3, %arg4, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    }) : (tensor<12x300xi32>, tensor<12x300xf32>, tensor<12x300xui8>) -> (tensor<12x300xi32>, tensor<12x300xf32>, tensor<12x300xui8>)
    return %0#0, %0#1, %0#2 : tensor<12x300xi32>, tensor<12x300xf32>, tensor<12x300xui8>
  }
}
