module @jit_gather_batched attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @empty_mesh = <[]> {stablehlo.mesh = {axes = []}}
  func.func public @main(%arg0: tensor<3x40x130xf32> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}, {}]>}, %arg1: tensor<3x40x5xi32> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}, {}]>}, %arg2: tensor<3x2xi32> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}) -> (tensor<3x40x5xf32> {jax.result_info = "result[0]"}, tensor<3x6x9xf32> {jax.result_info = "result[1]"}) {
    %0 = stablehlo.slice %arg2 [0:3, 0:1] : (tensor<3x2xi32>) -> tensor<3x1xi32>
    %1 = stablehlo.reshape %0 : (tensor<3x1xi32>) -> tensor<3xi32>
    %2 = stablehlo.slice %arg2 [0:3, 1:2] : (tensor<3x2xi32>) -> tensor<3x1xi32>
    %3 = stablehlo.reshape %2 : (tensor<3x1xi32>) -> tensor<3xi32>
    %c = stablehlo.constant dense<4> : tensor<i32>
    %4 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<3xi32>
    %5 = stablehlo.multiply %4, %3 : tensor<3xi32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<3xi32>
    %7 = stablehlo.compare LT, %1, %6, SIGNED : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi1>
    %c_1 = stablehlo.constant dense<40> : tensor<i32>
    %8 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<3xi32>
    %9 = stablehlo.add %1, %8 : tensor<3xi32>
    %10 = stablehlo.select %7, %9, %1 : tensor<3xi1>, tensor<3xi32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %11 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<3xi32>
    %12 = stablehlo.compare LT, %5, %11, SIGNED : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi1>
    %c_3 = stablehlo.constant dense<130> : tensor<i32>
    %13 = stablehlo.broadcast_in_dim %c_3, dims = [] : (tensor<i32>) -> tensor<3xi32>
    %14 = stablehlo.add %5, %13 : tensor<3xi32>
    %15 = stablehlo.select %12, %14, %5 : tensor<3xi1>, tensor<3xi32>
    %16 = stablehlo.broadcast_in_dim %10, dims = [0] : (tensor<3xi32>) -> tensor<3x1xi32>
    %17 = stablehlo.broadcast_in_dim %15, dims = [0] : (tensor<3xi32>) -> tensor<3x1xi32>
    %18 = stablehlo.concatenate %16, %17, dim = 1 : (tensor<3x1xi32>, tensor<3x1xi32>) -> tensor<3x2xi32>
    %19 = "stablehlo.gather"(%arg0, %18) <{dimension_numbers = #stablehlo.gather<offset_dims = [1, 2], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1, 2], index_vector_dim = 1>, indices_are_sorted = true, slice_sizes = array<i64: 1, 6, 9>}> : (tensor<3x40x130xf32>, tensor<3x2xi32>) -> tensor<3x6x9xf32>
    %20 = call @take_along_axis(%arg0, %arg1) : (tensor<3x40x130xf32>, tensor<3x40x5xi32>) -> tensor<3x40x5xf32>
    return %20, %19 : tensor<3x40x5xf32>, tensor<3x6x9xf32>
  }
  func.func private @take_along_axis(%arg0: tensor<3x40x130xf32>, %arg1: tensor<3x40x5xi32>) -> tensor<3x40x5xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<3x40x5xi32>
    %1 = stablehlo.compare LT, %arg1, %0, SIGNED : (tensor<3x40x5xi32>, tensor<3x40x5xi32>) -> tensor<3x40x5xi1>
    %c_0 = stablehlo.constant dense<130> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<3x40x5xi32>
    %3 = stablehlo.add %arg1, %2 : tensor<3x40x5xi32>
    %4 = stablehlo.select %1, %3, %arg1 : tensor<3x40x5xi1>, tensor<3x40x5xi32>
    %5 = stablehlo.reshape %4 : (tensor<3x40x5xi32>) -> tensor<3x40x5x1xi32>
    %c_1 = stablehlo.constant dense<129> : tensor<1xi32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<3x40x5x1xi32>
    %7 = stablehlo.compare GE, %5, %6, SIGNED : (tensor<3x40x5x1xi32>, tensor<3x40x5x1xi32>) -> tensor<3x40x5x1xi1>
    %8 = stablehlo.broadcast_in_dim %c_1, dims = [3] : (tensor<1xi32>) -> tensor<1x1x1x1xi32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2, 3] : (tensor<1x1x1x1xi32>) -> tensor<3x40x5x1xi32>
    %10 = stablehlo.compare LE, %5, %9, SIGNED : (tensor<3x40x5x1xi32>, tensor<3x40x5x1xi32>) -> tensor<3x40x5x1xi1>
    %11 = stablehlo.and %7, %10 : tensor<3x40x5x1xi1>
    %c_3 = stablehlo.constant dense<true> : tensor<i1>
    %12 = stablehlo.reduce(%11 init: %c_3) applies stablehlo.and across dimensions = [3] : (tensor<3x40x5x1xi1>, tensor<i1>) -> tensor<3x40x5xi1>
    %13 = "stablehlo.gather"(%arg0, %5) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [2], operand_batching_dims = [0, 1], start_indices_batching_dims = [0, 1], start_index_map = [2], index_vector_dim = 3>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1, 1>}> : (tensor<3x40x130xf32>, tensor<3x40x5x1xi32>) -> tensor<3x40x5xf32>
    %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<3x40x5xf32>
    %15 = stablehlo.select %12, %13, %14 : tensor<3x40x5xi1>, tensor<3x40x5xf32>
    return %15 : tensor<3x40x5xf32>
  }
}
