module @jit_gpu_singular_values_by_other_methods attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @empty_mesh = <[]> {stablehlo.mesh = {axes = []}}
  func.func public @main(%arg0: tensor<6x4xf32> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}, %arg1: tensor<2x3x5xf32> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}, {}]>}) -> (tensor<4xf32> {jax.result_info = "result[0][0]"}, tensor<6x4xf32> {jax.result_info = "result[0][1]"}, tensor<4xf32> {jax.result_info = "result[1][0]"}, tensor<6x4xf32> {jax.result_info = "result[1][1]"}, tensor<4xf32> {jax.result_info = "result[2][0]"}, tensor<6x4xf32> {jax.result_info = "result[2][1]"}, tensor<2x3xf32> {jax.result_info = "result[3][0]"}, tensor<2x3x5xf32> {jax.result_info = "result[3][1]"}, tensor<2x3xf32> {jax.result_info = "result[4][0]"}, tensor<2x3x5xf32> {jax.result_info = "result[4][1]"}, tensor<2x3xf32> {jax.result_info = "result[5][0]"}, tensor<2x3x5xf32> {jax.result_info = "result[5][1]"}) {
    %0:5 = stablehlo.custom_call @cusolver_gesvd_ffi(%arg0) {backend_config = "", mhlo.backend_config = {compute_uv = true, full_matrices = false, transposed = false}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>, dense<[0, 1]> : tensor<2xindex>, dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([k, l], [m], [n, o], [p, q], []) {i=6, j=4, k=6, l=4, m=4, n=6, o=4, p=4, q=4}, custom>} : (tensor<6x4xf32>) -> (tensor<6x4xf32>, tensor<4xf32>, tensor<6x4xf32>, tensor<4x4xf32>, tensor<i32>)
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<i32>
    %2 = stablehlo.compare EQ, %0#4, %1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %3 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<i1>) -> tensor<1xi1>
    %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %5 = stablehlo.broadcast_in_dim %3, dims = [0] : (tensor<1xi1>) -> tensor<4xi1>
    %6 = stablehlo.select %5, %0#1, %4 : tensor<4xi1>, tensor<4xf32>
    %7 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<i1>) -> tensor<1x1xi1>
    %cst_0 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<6x4xf32>
    %9 = stablehlo.broadcast_in_dim %7, dims = [0, 1] : (tensor<1x1xi1>) -> tensor<6x4xi1>
    %10 = stablehlo.select %9, %0#2, %8 : tensor<6x4xi1>, tensor<6x4xf32>
    %11 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<i1>) -> tensor<1x1xi1>
    %cst_1 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<4x4xf32>
    %13 = stablehlo.broadcast_in_dim %11, dims = [0, 1] : (tensor<1x1xi1>) -> tensor<4x4xi1>
    %14 = stablehlo.select %13, %0#3, %12 : tensor<4x4xi1>, tensor<4x4xf32>
    %15 = stablehlo.broadcast_in_dim %6, dims = [1] : (tensor<4xf32>) -> tensor<1x4xf32>
    %16 = stablehlo.broadcast_in_dim %15, dims = [0, 1] : (tensor<1x4xf32>) -> tensor<6x4xf32>
    %17 = stablehlo.multiply %10, %16 : tensor<6x4xf32>
    %18 = stablehlo.dot_general %17, %14, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<6x4xf32>, tensor<4x4xf32>) -> tensor<6x4xf32>
    %19:5 = stablehlo.custom_call @cusolver_gesvdp_ffi(%arg0) {backend_config = "", mhlo.backend_config = {compute_uv = true, full_matrices = false}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>, dense<[0, 1]> : tensor<2xindex>, dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([k, l], [m], [n, o], [p, q], []) {i=6, j=4, k=6, l=4, m=4, n=6, o=4, p=4, q=4}, custom>} : (tensor<6x4xf32>) -> (tensor<6x4xf32>, tensor<4xf32>, tensor<6x4xf32>, tensor<4x4xf32>, tensor<i32>)
    %20 = stablehlo.transpose %19#3, dims = [1, 0] : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %21 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<i32>
    %22 = stablehlo.compare EQ, %19#4, %21, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %23 = stablehlo.broadcast_in_dim %22, dims = [] : (tensor<i1>) -> tensor<1xi1>
    %cst_3 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %24 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %25 = stablehlo.broadcast_in_dim %23, dims = [0] : (tensor<1xi1>) -> tensor<4xi1>
    %26 = stablehlo.select %25, %19#1, %24 : tensor<4xi1>, tensor<4xf32>
    %27 = stablehlo.broadcast_in_dim %22, dims = [] : (tensor<i1>) -> tensor<1x1xi1>
    %cst_4 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %28 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<6x4xf32>
    %29 = stablehlo.broadcast_in_dim %27, dims = [0, 1] : (tensor<1x1xi1>) -> tensor<6x4xi1>
    %30 = stablehlo.select %29, %19#2, %28 : tensor<6x4xi1>, tensor<6x4xf32>
    %31 = stablehlo.broadcast_in_dim %22, dims = [] : (tensor<i1>) -> tensor<1x1xi1>
    %cst_5 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %32 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<4x4xf32>
    %33 = stablehlo.broadcast_in_dim %31, dims = [0, 1] : (tensor<1x1xi1>) -> tensor<4x4xi1>
    %34 = stablehlo.select %33, %20, %32 : tensor<4x4xi1>, tensor<4x4xf32>
    %35 = stablehlo.broadcast_in_dim %26, dims = [1] : (tensor<4xf32>) -> tensor<1x4xf32>
    %36 = stablehlo.broadcast_in_dim %35, dims = [0, 1] : (tensor<1x4xf32>) -> tensor<6x4xf32>
    %37 = stablehlo.multiply %30, %36 : tensor<6x4xf32>
    %38 = stablehlo.dot_general %37, %34, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<6x4xf32>, tensor<4x4xf32>) -> tensor<6x4xf32>
    %39:5 = stablehlo.custom_call @cusolver_gesvdj_ffi(%arg0) {backend_config = "", mhlo.backend_config = {compute_uv = true, full_matrices = true}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>, dense<[0, 1]> : tensor<2xindex>, dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([k, l], [m], [n, o], [p, q], []) {i=6, j=4, k=6, l=4, m=4, n=6, o=6, p=4, q=4}, custom>} : (tensor<6x4xf32>) -> (tensor<6x4xf32>, tensor<4xf32>, tensor<6x6xf32>, tensor<4x4xf32>, tensor<i32>)
    %40 = stablehlo.transpose %39#3, dims = [1, 0] : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %41 = stablehlo.slice %39#2 [0:6, 0:4] : (tensor<6x6xf32>) -> tensor<6x4xf32>
    %42 = stablehlo.slice %40 [0:4, 0:4] : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %c_6 = stablehlo.constant dense<0> : tensor<i32>
    %43 = stablehlo.broadcast_in_dim %c_6, dims = [] : (tensor<i32>) -> tensor<i32>
    %44 = stablehlo.compare EQ, %39#4, %43, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %45 = stablehlo.broadcast_in_dim %44, dims = [] : (tensor<i1>) -> tensor<1xi1>
    %cst_7 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %46 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %47 = stablehlo.broadcast_in_dim %45, dims = [0] : (tensor<1xi1>) -> tensor<4xi1>
    %48 = stablehlo.select %47, %39#1, %46 : tensor<4xi1>, tensor<4xf32>
    %49 = stablehlo.broadcast_in_dim %44, dims = [] : (tensor<i1>) -> tensor<1x1xi1>
    %cst_8 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %50 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<6x4xf32>
    %51 = stablehlo.broadcast_in_dim %49, dims = [0, 1] : (tensor<1x1xi1>) -> tensor<6x4xi1>
    %52 = stablehlo.select %51, %41, %50 : tensor<6x4xi1>, tensor<6x4xf32>
    %53 = stablehlo.broadcast_in_dim %44, dims = [] : (tensor<i1>) -> tensor<1x1xi1>
    %cst_9 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %54 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<4x4xf32>
    %55 = stablehlo.broadcast_in_dim %53, dims = [0, 1] : (tensor<1x1xi1>) -> tensor<4x4xi1>
    %56 = stablehlo.select %55, %42, %54 : tensor<4x4xi1>, tensor<4x4xf32>
    %57 = stablehlo.broadcast_in_dim %48, dims = [1] : (tensor<4xf32>) -> tensor<1x4xf32>
    %58 = stablehlo.broadcast_in_dim %57, dims = [0, 1] : (tensor<1x4xf32>) -> tensor<6x4xf32>
    %59 = stablehlo.multiply %52, %58 : tensor<6x4xf32>
    %60 = stablehlo.dot_general %59, %56, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<6x4xf32>, tensor<4x4xf32>) -> tensor<6x4xf32>
    %61:5 = stablehlo.custom_call @cusolver_gesvd_ffi(%arg1) {backend_config = "", mhlo.backend_config = {compute_uv = true, full_matrices = false, transposed = true}, mhlo.frontend_attributes = {num_batch_dims = "1"}, operand_layouts = [dense<[2, 1, 0]> : tensor<3xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[2, 1, 0]> : tensor<3xindex>, dense<[1, 0]> : tensor<2xindex>, dense<[2, 1, 0]> : tensor<3xindex>, dense<[2, 1, 0]> : tensor<3xindex>, dense<0> : tensor<1xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k])->([i, l, m], [i, n], [i, o, p], [i, q, r], [i]) {i=2, j=3, k=5, l=3, m=5, n=3, o=3, p=5, q=3, r=3}, custom>} : (tensor<2x3x5xf32>) -> (tensor<2x3x5xf32>, tensor<2x3xf32>, tensor<2x3x5xf32>, tensor<2x3x3xf32>, tensor<2xi32>)
    %c_10 = stablehlo.constant dense<0> : tensor<i32>
    %62 = stablehlo.broadcast_in_dim %c_10, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %63 = stablehlo.compare EQ, %61#4, %62, SIGNED : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
    %64 = stablehlo.broadcast_in_dim %63, dims = [0] : (tensor<2xi1>) -> tensor<2x1xi1>
    %cst_11 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %65 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
    %66 = stablehlo.broadcast_in_dim %64, dims = [0, 1] : (tensor<2x1xi1>) -> tensor<2x3xi1>
    %67 = stablehlo.select %66, %61#1, %65 : tensor<2x3xi1>, tensor<2x3xf32>
    %68 = stablehlo.broadcast_in_dim %63, dims = [0] : (tensor<2xi1>) -> tensor<2x1x1xi1>
    %cst_12 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %69 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<2x3x3xf32>
    %70 = stablehlo.broadcast_in_dim %68, dims = [0, 1, 2] : (tensor<2x1x1xi1>) -> tensor<2x3x3xi1>
    %71 = stablehlo.select %70, %61#3, %69 : tensor<2x3x3xi1>, tensor<2x3x3xf32>
    %72 = stablehlo.broadcast_in_dim %63, dims = [0] : (tensor<2xi1>) -> tensor<2x1x1xi1>
    %cst_13 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %73 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<2x3x5xf32>
    %74 = stablehlo.broadcast_in_dim %72, dims = [0, 1, 2] : (tensor<2x1x1xi1>) -> tensor<2x3x5xi1>
    %75 = stablehlo.select %74, %61#2, %73 : tensor<2x3x5xi1>, tensor<2x3x5xf32>
    %76 = stablehlo.broadcast_in_dim %67, dims = [0, 2] : (tensor<2x3xf32>) -> tensor<2x1x3xf32>
    %77 = stablehlo.broadcast_in_dim %76, dims = [0, 1, 2] : (tensor<2x1x3xf32>) -> tensor<2x3x3xf32>
    %78 = stablehlo.multiply %71, %77 : tensor<2x3x3xf32>
    %79 = stablehlo.dot_general %78, %75, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x3x3xf32>, tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
    %80:5 = stablehlo.custom_call @cusolver_gesvdp_ffi(%arg1) {backend_config = "", mhlo.backend_config = {compute_uv = true, full_matrices = false}, mhlo.frontend_attributes = {num_batch_dims = "1"}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 0]> : tensor<2xindex>, dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 2, 0]> : tensor<3xindex>, dense<0> : tensor<1xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k])->([i, l, m], [i, n], [i, o, p], [i, q, r], [i]) {i=2, j=3, k=5, l=3, m=5, n=3, o=3, p=3, q=5, r=3}, custom>} : (tensor<2x3x5xf32>) -> (tensor<2x3x5xf32>, tensor<2x3xf32>, tensor<2x3x3xf32>, tensor<2x5x3xf32>, tensor<2xi32>)
    %81 = stablehlo.transpose %80#3, dims = [0, 2, 1] : (tensor<2x5x3xf32>) -> tensor<2x3x5xf32>
    %c_14 = stablehlo.constant dense<0> : tensor<i32>
    %82 = stablehlo.broadcast_in_dim %c_14, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %83 = stablehlo.compare EQ, %80#4, %82, SIGNED : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
    %84 = stablehlo.broadcast_in_dim %83, dims = [0] : (tensor<2xi1>) -> tensor<2x1xi1>
    %cst_15 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %85 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
    %86 = stablehlo.broadcast_in_dim %84, dims = [0, 1] : (tensor<2x1xi1>) -> tensor<2x3xi1>
    %87 = stablehlo.select %86, %80#1, %85 : tensor<2x3xi1>, tensor<2x3xf32>
    %88 = stablehlo.broadcast_in_dim %83, dims = [0] : (tensor<2xi1>) -> tensor<2x1x1xi1>
    %cst_16 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %89 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f32>) -> tensor<2x3x3xf32>
    %90 = stablehlo.broadcast_in_dim %88, dims = [0, 1, 2] : (tensor<2x1x1xi1>) -> tensor<2x3x3xi1>
    %91 = stablehlo.select %90, %80#2, %89 : tensor<2x3x3xi1>, tensor<2x3x3xf32>
    %92 = stablehlo.broadcast_in_dim %83, dims = [0] : (tensor<2xi1>) -> tensor<2x1x1xi1>
    %cst_17 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %93 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<f32>) -> tensor<2x3x5xf32>
    %94 = stablehlo.broadcast_in_dim %92, dims = [0, 1, 2] : (tensor<2x1x1xi1>) -> tensor<2x3x5xi1>
    %95 = stablehlo.select %94, %81, %93 : tensor<2x3x5xi1>, tensor<2x3x5xf32>
    %96 = stablehlo.broadcast_in_dim %87, dims = [0, 2] : (tensor<2x3xf32>) -> tensor<2x1x3xf32>
    %97 = stablehlo.broadcast_in_dim %96, dims = [0, 1, 2] : (tensor<2x1x3xf32>) -> tensor<2x3x3xf32>
    %98 = stablehlo.multiply %91, %97 : tensor<2x3x3xf32>
    %99 = stablehlo.dot_general %98, %95, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x3x3xf32>, tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
    %100:5 = stablehlo.custom_call @cusolver_gesvdj_ffi(%arg1) {backend_config = "", mhlo.backend_config = {compute_uv = true, full_matrices = true}, mhlo.frontend_attributes = {num_batch_dims = "1"}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 0]> : tensor<2xindex>, dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 2, 0]> : tensor<3xindex>, dense<0> : tensor<1xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k])->([i, l, m], [i, n], [i, o, p], [i, q, r], [i]) {i=2, j=3, k=5, l=3, m=5, n=3, o=3, p=3, q=5, r=5}, custom>} : (tensor<2x3x5xf32>) -> (tensor<2x3x5xf32>, tensor<2x3xf32>, tensor<2x3x3xf32>, tensor<2x5x5xf32>, tensor<2xi32>)
    %101 = stablehlo.transpose %100#3, dims = [0, 2, 1] : (tensor<2x5x5xf32>) -> tensor<2x5x5xf32>
    %102 = stablehlo.slice %100#2 [0:2, 0:3, 0:3] : (tensor<2x3x3xf32>) -> tensor<2x3x3xf32>
    %103 = stablehlo.slice %101 [0:2, 0:3, 0:5] : (tensor<2x5x5xf32>) -> tensor<2x3x5xf32>
    %c_18 = stablehlo.constant dense<0> : tensor<i32>
    %104 = stablehlo.broadcast_in_dim %c_18, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %105 = stablehlo.compare EQ, %100#4, %104, SIGNED : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
    %106 = stablehlo.broadcast_in_dim %105, dims = [0] : (tensor<2xi1>) -> tensor<2x1xi1>
    %cst_19 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %107 = stablehlo.broadcast_in_dim %cst_19, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
    %108 = stablehlo.broadcast_in_dim %106, dims = [0, 1] : (tensor<2x1xi1>) -> tensor<2x3xi1>
    %109 = stablehlo.select %108, %100#1, %107 : tensor<2x3xi1>, tensor<2x3xf32>
    %110 = stablehlo.broadcast_in_dim %105, dims = [0] : (tensor<2xi1>) -> tensor<2x1x1xi1>
    %cst_20 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %111 = stablehlo.broadcast_in_dim %cst_20, dims = [] : (tensor<f32>) -> tensor<2x3x3xf32>
    %112 = stablehlo.broadcast_in_dim %110, dims = [0, 1, 2] : (tensor<2x1x1xi1>) -> tensor<2x3x3xi1>
    %113 = stablehlo.select %112, %102, %111 : tensor<2x3x3xi1>, tensor<2x3x3xf32>
    %114 = stablehlo.broadcast_in_dim %105, dims = [0] : (tensor<2xi1>) -> tensor<2x1x1xi1>
    %cst_21 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %115 = stablehlo.broadcast_in_dim %cst_21, dims = [] : (tensor<f32>) -> tensor<2x3x5xf32>
    %116 = stablehlo.broadcast_in_dim %114, dims = [0, 1, 2] : (tensor<2x1x1xi1>) -> tensor<2x3x5xi1>
    %117 = stablehlo.select %116, %103, %115 : tensor<2x3x5xi1>, tensor<2x3x5xf32>
    %118 = stablehlo.broadcast_in_dim %109, dims = [0, 2] : (tensor<2x3xf32>) -> tensor<2x1x3xf32>
    %119 = stablehlo.broadcast_in_dim %118, dims = [0, 1, 2] : (tensor<2x1x3xf32>) -> tensor<2x3x3xf32>
    %120 = stablehlo.multiply %113, %119 : tensor<2x3x3xf32>
    %121 = stablehlo.dot_general %120, %117, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x3x3xf32>, tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
    return %6, %18, %26, %38, %48, %60, %67, %79, %87, %99, %109, %121 : tensor<4xf32>, tensor<6x4xf32>, tensor<4xf32>, tensor<6x4xf32>, tensor<4xf32>, tensor<6x4xf32>, tensor<2x3xf32>, tensor<2x3x5xf32>, tensor<2x3xf32>, tensor<2x3x5xf32>, tensor<2x3xf32>, tensor<2x3x5xf32>
  }
}
