module @jit_approximate_maxima attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @empty_mesh = <[]> {stablehlo.mesh = {axes = []}}
  func.func @top_k_gt_f32_comparator(%arg0: tensor<f32>, %arg1: tensor<f32>, %arg2: tensor<i32>, %arg3: tensor<i32>) -> tensor<i1> {
    %0 = stablehlo.compare GT, %arg0, %arg1 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %0 : tensor<i1>
  }
  func.func public @main(%arg0: tensor<4x1500xf32> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}) -> (tensor<4x5xf32> {jax.result_info = "result[0]"}, tensor<4x5xi32> {jax.result_info = "result[1]"}) {
    %0 = stablehlo.iota dim = 0 : tensor<1500xi32>
    %1 = stablehlo.convert %0 : (tensor<1500xi32>) -> tensor<1500xf32>
    %cst = stablehlo.constant dense<1.310720e+05> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<1500xf32>
    %3 = stablehlo.divide %1, %2 : tensor<1500xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [1] : (tensor<1500xf32>) -> tensor<1x1500xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1] : (tensor<1x1500xf32>) -> tensor<4x1500xf32>
    %6 = stablehlo.add %arg0, %5 : tensor<4x1500xf32>
    %7 = stablehlo.iota dim = 1 : tensor<4x1500xi32>
    %c = stablehlo.constant dense<-1> : tensor<i32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %8:2 = stablehlo.custom_call @ApproxTopK(%6, %7, %cst_0, %c) {backend_config = "", called_computations = [@top_k_gt_f32_comparator], mhlo.backend_config = {aggregate_to_topk = true, recall_target = 9.900000e-01 : f32, reduction_dim = 1 : i64, reduction_input_size_override = -1 : i64, top_k = 5 : i64}} : (tensor<4x1500xf32>, tensor<4x1500xi32>, tensor<f32>, tensor<i32>) -> (tensor<4x5xf32>, tensor<4x5xi32>)
    return %8#0, %8#1 : tensor<4x5xf32>, tensor<4x5xi32>
  }
}
