module @jit_transformer_block_gradient attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @empty_mesh = <[]> {stablehlo.mesh = {axes = []}}
  func.func public @main(%arg0: tensor<2x12x32xf32> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}, {}]>}, %arg1: tensor<32x3x2x16xf32> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}, {}, {}]>}, %arg2: tensor<2x16x32xf32> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}, {}]>}, %arg3: tensor<32x72xf32> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}, %arg4: tensor<72x32xf32> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}) -> (tensor<f32> {jax.result_info = "result[0]"}, tensor<32x3x2x16xf32> {jax.result_info = "result[1][0]"}, tensor<2x16x32xf32> {jax.result_info = "result[1][1]"}, tensor<32x72xf32> {jax.result_info = "result[1][2]"}, tensor<72x32xf32> {jax.result_info = "result[1][3]"}) {
    %0 = stablehlo.multiply %arg0, %arg0 : tensor<2x12x32xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [2] : (tensor<2x12x32xf32>, tensor<f32>) -> tensor<2x12xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<2x12xf32>) -> tensor<2x12x1xf32>
    %cst_0 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x12x1xf32>
    %4 = stablehlo.divide %2, %3 : tensor<2x12x1xf32>
    %cst_1 = stablehlo.constant dense<9.99999997E-7> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<2x12x1xf32>
    %6 = stablehlo.add %4, %5 : tensor<2x12x1xf32>
    %7 = stablehlo.rsqrt %6 : tensor<2x12x1xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1, 2] : (tensor<2x12x1xf32>) -> tensor<2x12x32xf32>
    %9 = stablehlo.multiply %arg0, %8 : tensor<2x12x32xf32>
    %10 = stablehlo.dot_general %9, %arg1, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x12x32xf32>, tensor<32x3x2x16xf32>) -> tensor<2x12x3x2x16xf32>
    %11 = stablehlo.transpose %10, dims = [2, 0, 1, 3, 4] : (tensor<2x12x3x2x16xf32>) -> tensor<3x2x12x2x16xf32>
    %12 = stablehlo.slice %11 [0:1, 0:2, 0:12, 0:2, 0:16] : (tensor<3x2x12x2x16xf32>) -> tensor<1x2x12x2x16xf32>
    %13 = stablehlo.reshape %12 : (tensor<1x2x12x2x16xf32>) -> tensor<2x12x2x16xf32>
    %14 = stablehlo.slice %11 [1:2, 0:2, 0:12, 0:2, 0:16] : (tensor<3x2x12x2x16xf32>) -> tensor<1x2x12x2x16xf32>
    %15 = stablehlo.reshape %14 : (tensor<1x2x12x2x16xf32>) -> tensor<2x12x2x16xf32>
    %16 = stablehlo.slice %11 [2:3, 0:2, 0:12, 0:2, 0:16] : (tensor<3x2x12x2x16xf32>) -> tensor<1x2x12x2x16xf32>
    %17 = stablehlo.reshape %16 : (tensor<1x2x12x2x16xf32>) -> tensor<2x12x2x16xf32>
    %18 = stablehlo.dot_general %13, %15, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x12x2x16xf32>, tensor<2x12x2x16xf32>) -> tensor<2x2x12x12xf32>
    %cst_2 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %19 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<2x2x12x12xf32>
    %20 = stablehlo.divide %18, %19 : tensor<2x2x12x12xf32>
    %cst_3 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %21 = stablehlo.reduce(%20 init: %cst_3) applies stablehlo.maximum across dimensions = [3] : (tensor<2x2x12x12xf32>, tensor<f32>) -> tensor<2x2x12xf32>
    %cst_4 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %22 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<2x2x12xf32>
    %23 = stablehlo.maximum %22, %21 : tensor<2x2x12xf32>
    %24 = stablehlo.broadcast_in_dim %23, dims = [0, 1, 2] : (tensor<2x2x12xf32>) -> tensor<2x2x12x1xf32>
    %25 = stablehlo.broadcast_in_dim %24, dims = [0, 1, 2, 3] : (tensor<2x2x12x1xf32>) -> tensor<2x2x12x12xf32>
    %26 = stablehlo.subtract %20, %25 : tensor<2x2x12x12xf32>
    %27 = stablehlo.exponential %26 : tensor<2x2x12x12xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %28 = stablehlo.reduce(%27 init: %cst_5) applies stablehlo.add across dimensions = [3] : (tensor<2x2x12x12xf32>, tensor<f32>) -> tensor<2x2x12xf32>
    %29 = stablehlo.broadcast_in_dim %28, dims = [0, 1, 2] : (tensor<2x2x12xf32>) -> tensor<2x2x12x1xf32>
    %30 = stablehlo.broadcast_in_dim %29, dims = [0, 1, 2, 3] : (tensor<2x2x12x1xf32>) -> tensor<2x2x12x12xf32>
    %31 = stablehlo.divide %27, %30 : tensor<2x2x12x12xf32>
    %32 = stablehlo.multiply %29, %29 : tensor<2x2x12x1xf32>
    %cst_6 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %33 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<2x2x12x1xf32>
    %34 = stablehlo.divide %33, %32 : tensor<2x2x12x1xf32>
    %35 = stablehlo.dot_general %17, %31, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x12x2x16xf32>, tensor<2x2x12x12xf32>) -> tensor<2x2x16x12xf32>
    %36 = stablehlo.dot_general %35, %arg2, contracting_dims = [2, 1] x [1, 0], precision = [DEFAULT, DEFAULT] : (tensor<2x2x16x12xf32>, tensor<2x16x32xf32>) -> tensor<2x12x32xf32>
    %37 = stablehlo.add %arg0, %36 : tensor<2x12x32xf32>
    %38 = stablehlo.multiply %37, %37 : tensor<2x12x32xf32>
    %cst_7 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %39 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<2x12x32xf32>
    %40 = stablehlo.multiply %39, %37 : tensor<2x12x32xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %41 = stablehlo.reduce(%38 init: %cst_8) applies stablehlo.add across dimensions = [2] : (tensor<2x12x32xf32>, tensor<f32>) -> tensor<2x12xf32>
    %42 = stablehlo.broadcast_in_dim %41, dims = [0, 1] : (tensor<2x12xf32>) -> tensor<2x12x1xf32>
    %cst_9 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %43 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<2x12x1xf32>
    %44 = stablehlo.divide %42, %43 : tensor<2x12x1xf32>
    %cst_10 = stablehlo.constant dense<9.99999997E-7> : tensor<f32>
    %45 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<2x12x1xf32>
    %46 = stablehlo.add %44, %45 : tensor<2x12x1xf32>
    %47 = stablehlo.rsqrt %46 : tensor<2x12x1xf32>
    %48 = stablehlo.divide %47, %46 : tensor<2x12x1xf32>
    %cst_11 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %49 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<2x12x1xf32>
    %50 = stablehlo.multiply %49, %48 : tensor<2x12x1xf32>
    %51 = stablehlo.broadcast_in_dim %47, dims = [0, 1, 2] : (tensor<2x12x1xf32>) -> tensor<2x12x32xf32>
    %52 = stablehlo.multiply %37, %51 : tensor<2x12x32xf32>
    %53 = stablehlo.dot_general %52, %arg3, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x12x32xf32>, tensor<32x72xf32>) -> tensor<2x12x72xf32>
    %54 = stablehlo.multiply %53, %53 : tensor<2x12x72xf32>
    %55 = stablehlo.multiply %54, %53 : tensor<2x12x72xf32>
    %56 = stablehlo.multiply %53, %53 : tensor<2x12x72xf32>
    %cst_12 = stablehlo.constant dense<3.000000e+00> : tensor<f32>
    %57 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<2x12x72xf32>
    %58 = stablehlo.multiply %57, %56 : tensor<2x12x72xf32>
    %cst_13 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %59 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<2x12x72xf32>
    %60 = stablehlo.multiply %59, %55 : tensor<2x12x72xf32>
    %61 = stablehlo.add %53, %60 : tensor<2x12x72xf32>
    %cst_14 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %62 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<2x12x72xf32>
    %63 = stablehlo.multiply %62, %61 : tensor<2x12x72xf32>
    %64 = stablehlo.tanh %63 : tensor<2x12x72xf32>
    %cst_15 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %65 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<2x12x72xf32>
    %66 = stablehlo.subtract %65, %64 : tensor<2x12x72xf32>
    %cst_16 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %67 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f32>) -> tensor<2x12x72xf32>
    %68 = stablehlo.add %67, %64 : tensor<2x12x72xf32>
    %cst_17 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %69 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<f32>) -> tensor<2x12x72xf32>
    %70 = stablehlo.multiply %69, %68 : tensor<2x12x72xf32>
    %71 = stablehlo.multiply %53, %70 : tensor<2x12x72xf32>
    %72 = stablehlo.dot_general %71, %arg4, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x12x72xf32>, tensor<72x32xf32>) -> tensor<2x12x32xf32>
    %73 = stablehlo.add %37, %72 : tensor<2x12x32xf32>
    %74 = stablehlo.multiply %73, %73 : tensor<2x12x32xf32>
    %cst_18 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %75 = stablehlo.broadcast_in_dim %cst_18, dims = [] : (tensor<f32>) -> tensor<2x12x32xf32>
    %76 = stablehlo.multiply %75, %73 : tensor<2x12x32xf32>
    %cst_19 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %77 = stablehlo.reduce(%74 init: %cst_19) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<2x12x32xf32>, tensor<f32>) -> tensor<f32>
    %cst_20 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %78 = stablehlo.divide %77, %cst_20 : tensor<f32>
    %cst_21 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_22 = stablehlo.constant dense<7.680000e+02> : tensor<f32>
    %79 = stablehlo.divide %cst_21, %cst_22 : tensor<f32>
    %80 = stablehlo.broadcast_in_dim %79, dims = [] : (tensor<f32>) -> tensor<2x12x32xf32>
    %81 = stablehlo.multiply %80, %76 : tensor<2x12x32xf32>
    %82 = stablehlo.dot_general %81, %71, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<2x12x32xf32>, tensor<2x12x72xf32>) -> tensor<32x72xf32>
    %83 = stablehlo.transpose %82, dims = [1, 0] : (tensor<32x72xf32>) -> tensor<72x32xf32>
    %84 = stablehlo.dot_general %81, %arg4, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x12x32xf32>, tensor<72x32xf32>) -> tensor<2x12x72xf32>
    %85 = stablehlo.multiply %53, %84 : tensor<2x12x72xf32>
    %86 = stablehlo.multiply %84, %70 : tensor<2x12x72xf32>
    %cst_23 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %87 = stablehlo.broadcast_in_dim %cst_23, dims = [] : (tensor<f32>) -> tensor<2x12x72xf32>
    %88 = stablehlo.multiply %87, %85 : tensor<2x12x72xf32>
    %89 = stablehlo.multiply %88, %66 : tensor<2x12x72xf32>
    %90 = stablehlo.multiply %89, %64 : tensor<2x12x72xf32>
    %91 = stablehlo.add %89, %90 : tensor<2x12x72xf32>
    %cst_24 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %92 = stablehlo.broadcast_in_dim %cst_24, dims = [] : (tensor<f32>) -> tensor<2x12x72xf32>
    %93 = stablehlo.multiply %92, %91 : tensor<2x12x72xf32>
    %94 = stablehlo.add %86, %93 : tensor<2x12x72xf32>
    %cst_25 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %95 = stablehlo.broadcast_in_dim %cst_25, dims = [] : (tensor<f32>) -> tensor<2x12x72xf32>
    %96 = stablehlo.multiply %95, %93 : tensor<2x12x72xf32>
    %97 = stablehlo.multiply %96, %58 : tensor<2x12x72xf32>
    %98 = stablehlo.add %94, %97 : tensor<2x12x72xf32>
    %99 = stablehlo.dot_general %98, %52, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<2x12x72xf32>, tensor<2x12x32xf32>) -> tensor<72x32xf32>
    %100 = stablehlo.transpose %99, dims = [1, 0] : (tensor<72x32xf32>) -> tensor<32x72xf32>
    %101 = stablehlo.dot_general %98, %arg3, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x12x72xf32>, tensor<32x72xf32>) -> tensor<2x12x32xf32>
    %102 = stablehlo.multiply %37, %101 : tensor<2x12x32xf32>
    %cst_26 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %103 = stablehlo.reduce(%102 init: %cst_26) applies stablehlo.add across dimensions = [2] : (tensor<2x12x32xf32>, tensor<f32>) -> tensor<2x12xf32>
    %104 = stablehlo.reshape %103 : (tensor<2x12xf32>) -> tensor<2x12x1xf32>
    %105 = stablehlo.broadcast_in_dim %47, dims = [0, 1, 2] : (tensor<2x12x1xf32>) -> tensor<2x12x32xf32>
    %106 = stablehlo.multiply %101, %105 : tensor<2x12x32xf32>
    %107 = stablehlo.add %81, %106 : tensor<2x12x32xf32>
    %108 = stablehlo.multiply %104, %50 : tensor<2x12x1xf32>
    %cst_27 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %109 = stablehlo.broadcast_in_dim %cst_27, dims = [] : (tensor<f32>) -> tensor<2x12x1xf32>
    %110 = stablehlo.divide %108, %109 : tensor<2x12x1xf32>
    %cst_28 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %111 = stablehlo.reduce(%110 init: %cst_28) applies stablehlo.add across dimensions = [2] : (tensor<2x12x1xf32>, tensor<f32>) -> tensor<2x12xf32>
    %112 = stablehlo.broadcast_in_dim %111, dims = [0, 1] : (tensor<2x12xf32>) -> tensor<2x12x32xf32>
    %113 = stablehlo.multiply %112, %40 : tensor<2x12x32xf32>
    %114 = stablehlo.add %107, %113 : tensor<2x12x32xf32>
    %115 = stablehlo.dot_general %114, %35, contracting_dims = [0, 1] x [0, 3], precision = [DEFAULT, DEFAULT] : (tensor<2x12x32xf32>, tensor<2x2x16x12xf32>) -> tensor<32x2x16xf32>
    %116 = stablehlo.transpose %115, dims = [1, 2, 0] : (tensor<32x2x16xf32>) -> tensor<2x16x32xf32>
    %117 = stablehlo.dot_general %114, %arg2, contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<2x12x32xf32>, tensor<2x16x32xf32>) -> tensor<2x12x2x16xf32>
    %118 = stablehlo.transpose %117, dims = [0, 2, 3, 1] : (tensor<2x12x2x16xf32>) -> tensor<2x2x16x12xf32>
    %119 = stablehlo.dot_general %118, %17, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x2x16x12xf32>, tensor<2x12x2x16xf32>) -> tensor<2x2x12x12xf32>
    %120 = stablehlo.dot_general %118, %31, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<2x2x16x12xf32>, tensor<2x2x12x12xf32>) -> tensor<2x2x16x12xf32>
    %121 = stablehlo.transpose %120, dims = [0, 3, 1, 2] : (tensor<2x2x16x12xf32>) -> tensor<2x12x2x16xf32>
    %122 = stablehlo.broadcast_in_dim %34, dims = [0, 1, 2, 3] : (tensor<2x2x12x1xf32>) -> tensor<2x2x12x12xf32>
    %123 = stablehlo.multiply %119, %122 : tensor<2x2x12x12xf32>
    %124 = stablehlo.multiply %123, %27 : tensor<2x2x12x12xf32>
    %cst_29 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %125 = stablehlo.reduce(%124 init: %cst_29) applies stablehlo.add across dimensions = [3] : (tensor<2x2x12x12xf32>, tensor<f32>) -> tensor<2x2x12xf32>
    %126 = stablehlo.reshape %125 : (tensor<2x2x12xf32>) -> tensor<2x2x12x1xf32>
    %127 = stablehlo.negate %126 : tensor<2x2x12x1xf32>
    %128 = stablehlo.broadcast_in_dim %29, dims = [0, 1, 2, 3] : (tensor<2x2x12x1xf32>) -> tensor<2x2x12x12xf32>
    %129 = stablehlo.divide %119, %128 : tensor<2x2x12x12xf32>
    %cst_30 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %130 = stablehlo.reduce(%127 init: %cst_30) applies stablehlo.add across dimensions = [3] : (tensor<2x2x12x1xf32>, tensor<f32>) -> tensor<2x2x12xf32>
    %131 = stablehlo.broadcast_in_dim %130, dims = [0, 1, 2] : (tensor<2x2x12xf32>) -> tensor<2x2x12x12xf32>
    %132 = stablehlo.add %129, %131 : tensor<2x2x12x12xf32>
    %133 = stablehlo.multiply %132, %27 : tensor<2x2x12x12xf32>
    %cst_31 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %134 = stablehlo.broadcast_in_dim %cst_31, dims = [] : (tensor<f32>) -> tensor<2x2x12x12xf32>
    %135 = stablehlo.divide %133, %134 : tensor<2x2x12x12xf32>
    %136 = stablehlo.dot_general %135, %13, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x2x12x12xf32>, tensor<2x12x2x16xf32>) -> tensor<2x2x12x16xf32>
    %137 = stablehlo.transpose %136, dims = [0, 2, 1, 3] : (tensor<2x2x12x16xf32>) -> tensor<2x12x2x16xf32>
    %138 = stablehlo.dot_general %135, %15, batching_dims = [0, 1] x [0, 2], contracting_dims = [3] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x2x12x12xf32>, tensor<2x12x2x16xf32>) -> tensor<2x2x12x16xf32>
    %139 = stablehlo.transpose %138, dims = [0, 2, 1, 3] : (tensor<2x2x12x16xf32>) -> tensor<2x12x2x16xf32>
    %140 = stablehlo.broadcast_in_dim %121, dims = [1, 2, 3, 4] : (tensor<2x12x2x16xf32>) -> tensor<1x2x12x2x16xf32>
    %cst_32 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %141 = stablehlo.pad %140, %cst_32, low = [2, 0, 0, 0, 0], high = [0, 0, 0, 0, 0], interior = [0, 0, 0, 0, 0] : (tensor<1x2x12x2x16xf32>, tensor<f32>) -> tensor<3x2x12x2x16xf32>
    %142 = stablehlo.broadcast_in_dim %137, dims = [1, 2, 3, 4] : (tensor<2x12x2x16xf32>) -> tensor<1x2x12x2x16xf32>
    %cst_33 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %143 = stablehlo.pad %142, %cst_33, low = [1, 0, 0, 0, 0], high = [1, 0, 0, 0, 0], interior = [0, 0, 0, 0, 0] : (tensor<1x2x12x2x16xf32>, tensor<f32>) -> tensor<3x2x12x2x16xf32>
    %144 = stablehlo.add %141, %143 : tensor<3x2x12x2x16xf32>
    %145 = stablehlo.broadcast_in_dim %139, dims = [1, 2, 3, 4] : (tensor<2x12x2x16xf32>) -> tensor<1x2x12x2x16xf32>
    %cst_34 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %146 = stablehlo.pad %145, %cst_34, low = [0, 0, 0, 0, 0], high = [2, 0, 0, 0, 0], interior = [0, 0, 0, 0, 0] : (tensor<1x2x12x2x16xf32>, tensor<f32>) -> tensor<3x2x12x2x16xf32>
    %147 = stablehlo.add %144, %146 : tensor<3x2x12x2x16xf32>
    %148 = stablehlo.transpose %147, dims = [1, 2, 0, 3, 4] : (tensor<3x2x12x2x16xf32>) -> tensor<2x12x3x2x16xf32>
    %149 = stablehlo.dot_general %148, %9, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<2x12x3x2x16xf32>, tensor<2x12x32xf32>) -> tensor<3x2x16x32xf32>
    %150 = stablehlo.transpose %149, dims = [3, 0, 1, 2] : (tensor<3x2x16x32xf32>) -> tensor<32x3x2x16xf32>
    return %78, %150, %116, %100, %83 : tensor<f32>, tensor<32x3x2x16xf32>, tensor<2x16x32xf32>, tensor<32x72xf32>, tensor<72x32xf32>
  }
}
