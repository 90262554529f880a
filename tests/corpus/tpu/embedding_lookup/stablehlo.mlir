module @jit_embedding_lookup attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @empty_mesh = <[]> {stablehlo.mesh = {axes = []}}
  func.func public @main(%arg0: tensor<90x48xbf16> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}, %arg1: tensor<4x13xi32> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}, %arg2: tensor<13x48xbf16> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}) -> (tensor<4x13x48xbf16> {jax.result_info = "result[0]"}, tensor<13x48xbf16> {jax.result_info = "result[1]"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<4x13xi32>
    %1 = stablehlo.compare LT, %arg1, %0, SIGNED : (tensor<4x13xi32>, tensor<4x13xi32>) -> tensor<4x13xi1>
    %c_0 = stablehlo.constant dense<90> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<4x13xi32>
    %3 = stablehlo.add %arg1, %2 : tensor<4x13xi32>
    %4 = stablehlo.select %1, %3, %arg1 : tensor<4x13xi1>, tensor<4x13xi32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1] : (tensor<4x13xi32>) -> tensor<4x13x1xi32>
    %6 = "stablehlo.gather"(%arg0, %5) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 48>}> : (tensor<90x48xbf16>, tensor<4x13x1xi32>) -> tensor<4x13x48xbf16>
    %7 = stablehlo.broadcast_in_dim %arg2, dims = [1, 2] : (tensor<13x48xbf16>) -> tensor<1x13x48xbf16>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1, 2] : (tensor<1x13x48xbf16>) -> tensor<4x13x48xbf16>
    %9 = stablehlo.add %6, %8 : tensor<4x13x48xbf16>
    %10 = stablehlo.slice %arg1 [0:1, 0:13] : (tensor<4x13xi32>) -> tensor<1x13xi32>
    %11 = stablehlo.reshape %10 : (tensor<1x13xi32>) -> tensor<13xi32>
    %12 = call @_one_hot(%11) : (tensor<13xi32>) -> tensor<13x90xbf16>
    %13 = stablehlo.dot_general %12, %arg0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<13x90xbf16>, tensor<90x48xbf16>) -> tensor<13x48xbf16>
    return %9, %13 : tensor<4x13x48xbf16>, tensor<13x48xbf16>
  }
  func.func private @_one_hot(%arg0: tensor<13xi32>) -> tensor<13x90xbf16> {
    %0 = stablehlo.broadcast_in_dim %arg0, dims = [0] : (tensor<13xi32>) -> tensor<13x1xi32>
    %1 = stablehlo.iota dim = 1 : tensor<1x90xi32>
    %2 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<13x1xi32>) -> tensor<13x90xi32>
    %3 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<1x90xi32>) -> tensor<13x90xi32>
    %4 = stablehlo.compare EQ, %2, %3, SIGNED : (tensor<13x90xi32>, tensor<13x90xi32>) -> tensor<13x90xi1>
    %5 = stablehlo.convert %4 : (tensor<13x90xi1>) -> tensor<13x90xbf16>
    return %5 : tensor<13x90xbf16>
  }
}
