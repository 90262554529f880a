module @jit_tridiagonal attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @empty_mesh = <[]> {stablehlo.mesh = {axes = []}}
  func.func public @main(%arg0: tensor<16xf32> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}]>}, %arg1: tensor<16xf32> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}]>}, %arg2: tensor<16xf32> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}]>}, %arg3: tensor<16x3xf32> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}) -> (tensor<16x3xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.iota dim = 0 : tensor<16xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<16xi32>
    %2 = stablehlo.compare GT, %0, %1, SIGNED : (tensor<16xi32>, tensor<16xi32>) -> tensor<16xi1>
    %3 = stablehlo.convert %2 : (tensor<16xi1>) -> tensor<16xf32>
    %4 = stablehlo.multiply %arg1, %3 : tensor<16xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %6 = stablehlo.add %arg0, %5 : tensor<16xf32>
    %7 = stablehlo.iota dim = 0 : tensor<16xi32>
    %c_0 = stablehlo.constant dense<15> : tensor<i32>
    %8 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<16xi32>
    %9 = stablehlo.compare LT, %7, %8, SIGNED : (tensor<16xi32>, tensor<16xi32>) -> tensor<16xi1>
    %10 = stablehlo.convert %9 : (tensor<16xi1>) -> tensor<16xf32>
    %11 = stablehlo.multiply %arg2, %10 : tensor<16xf32>
    %12 = stablehlo.slice %11 [0:1] : (tensor<16xf32>) -> tensor<1xf32>
    %13 = stablehlo.reshape %12 : (tensor<1xf32>) -> tensor<f32>
    %14 = stablehlo.slice %6 [0:1] : (tensor<16xf32>) -> tensor<1xf32>
    %15 = stablehlo.reshape %14 : (tensor<1xf32>) -> tensor<f32>
    %16 = stablehlo.divide %13, %15 : tensor<f32>
    %17 = stablehlo.slice %arg3 [0:1, 0:3] : (tensor<16x3xf32>) -> tensor<1x3xf32>
    %18 = stablehlo.reshape %17 : (tensor<1x3xf32>) -> tensor<3xf32>
    %19 = stablehlo.slice %6 [0:1] : (tensor<16xf32>) -> tensor<1xf32>
    %20 = stablehlo.reshape %19 : (tensor<1xf32>) -> tensor<f32>
    %21 = stablehlo.broadcast_in_dim %20, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %22 = stablehlo.divide %18, %21 : tensor<3xf32>
    %23 = stablehlo.slice %4 [1:16] : (tensor<16xf32>) -> tensor<15xf32>
    %24 = stablehlo.slice %6 [1:16] : (tensor<16xf32>) -> tensor<15xf32>
    %25 = stablehlo.slice %11 [1:16] : (tensor<16xf32>) -> tensor<15xf32>
    %26 = stablehlo.slice %arg3 [1:16, 0:3] : (tensor<16x3xf32>) -> tensor<15x3xf32>
    %27 = stablehlo.slice %23 [0:0] : (tensor<15xf32>) -> tensor<0xf32>
    %28 = stablehlo.slice %23 [0:15] : (tensor<15xf32>) -> tensor<15xf32>
    %29 = stablehlo.slice %24 [0:0] : (tensor<15xf32>) -> tensor<0xf32>
    %30 = stablehlo.slice %24 [0:15] : (tensor<15xf32>) -> tensor<15xf32>
    %31 = stablehlo.slice %25 [0:0] : (tensor<15xf32>) -> tensor<0xf32>
    %32 = stablehlo.slice %25 [0:15] : (tensor<15xf32>) -> tensor<15xf32>
    %33 = stablehlo.slice %26 [0:0, 0:3] : (tensor<15x3xf32>) -> tensor<0x3xf32>
    %34 = stablehlo.slice %26 [0:15, 0:3] : (tensor<15x3xf32>) -> tensor<15x3xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %35 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<0xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %36 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<0x3xf32>
    %37 = stablehlo.slice %28 [0:1] : (tensor<15xf32>) -> tensor<1xf32>
    %38 = stablehlo.reshape %37 : (tensor<1xf32>) -> tensor<f32>
    %39 = stablehlo.slice %30 [0:1] : (tensor<15xf32>) -> tensor<1xf32>
    %40 = stablehlo.reshape %39 : (tensor<1xf32>) -> tensor<f32>
    %41 = stablehlo.slice %32 [0:1] : (tensor<15xf32>) -> tensor<1xf32>
    %42 = stablehlo.reshape %41 : (tensor<1xf32>) -> tensor<f32>
    %43 = stablehlo.slice %34 [0:1, 0:3] : (tensor<15x3xf32>) -> tensor<1x3xf32>
    %44 = stablehlo.reshape %43 : (tensor<1x3xf32>) -> tensor<3xf32>
    %45:4 = call @closed_call(%16, %22, %38, %40, %42, %44) : (tensor<f32>, tensor<3xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<3xf32>) -> (tensor<f32>, tensor<3xf32>, tensor<f32>, tensor<3xf32>)
    %46 = stablehlo.slice %28 [1:2] : (tensor<15xf32>) -> tensor<1xf32>
    %47 = stablehlo.reshape %46 : (tensor<1xf32>) -> tensor<f32>
    %48 = stablehlo.slice %30 [1:2] : (tensor<15xf32>) -> tensor<1xf32>
    %49 = stablehlo.reshape %48 : (tensor<1xf32>) -> tensor<f32>
    %50 = stablehlo.slice %32 [1:2] : (tensor<15xf32>) -> tensor<1xf32>
    %51 = stablehlo.reshape %50 : (tensor<1xf32>) -> tensor<f32>
    %52 = stablehlo.slice %34 [1:2, 0:3] : (tensor<15x3xf32>) -> tensor<1x3xf32>
    %53 = stablehlo.reshape %52 : (tensor<1x3xf32>) -> tensor<3xf32>
    %54:4 = call @closed_call(%45#0, %45#1, %47, %49, %51, %53) : (tensor<f32>, tensor<3xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<3xf32>) -> (tensor<f32>, tensor<3xf32>, tensor<f32>, tensor<3xf32>)
    %55 = stablehlo.slice %28 [2:3] : (tensor<15xf32>) -> tensor<1xf32>
    %56 = stablehlo.reshape %55 : (tensor<1xf32>) -> tensor<f32>
    %57 = stablehlo.slice %30 [2:3] : (tensor<15xf32>) -> tensor<1xf32>
    %58 = stablehlo.reshape %57 : (tensor<1xf32>) -> tensor<f32>
    %59 = stablehlo.slice %32 [2:3] : (tensor<15xf32>) -> tensor<1xf32>
    %60 = stablehlo.reshape %59 : (tensor<1xf32>) -> tensor<f32>
    %61 = stablehlo.slice %34 [2:3, 0:3] : (tensor<15x3xf32>) -> tensor<1x3xf32>
    %62 = stablehlo.reshape %61 : (tensor<1x3xf32>) -> tensor<3xf32>
    %63:4 = call @closed_call(%54#0, %54#1, %56, %58, %60, %62) : (tensor<f32>, tensor<3xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<3xf32>) -> (tensor<f32>, tensor<3xf32>, tensor<f32>, tensor<3xf32>)
    %64 = stablehlo.slice %28 [3:4] : (tensor<15xf32>) -> tensor<1xf32>
    %65 = stablehlo.reshape %64 : (tensor<1xf32>) -> tensor<f32>
    %66 = stablehlo.slice %30 [3:4] : (tensor<15xf32>) -> tensor<1xf32>
    %67 = stablehlo.reshape %66 : (tensor<1xf32>) -> tensor<f32>
    %68 = stablehlo.slice %32 [3:4] : (tensor<15xf32>) -> tensor<1xf32>
    %69 = stablehlo.reshape %68 : (tensor<1xf32>) -> tensor<f32>
    %70 = stablehlo.slice %34 [3:4, 0:3] : (tensor<15x3xf32>) -> tensor<1x3xf32>
    %71 = stablehlo.reshape %70 : (tensor<1x3xf32>) -> tensor<3xf32>
    %72:4 = call @closed_call(%63#0, %63#1, %65, %67, %69, %71) : (tensor<f32>, tensor<3xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<3xf32>) -> (tensor<f32>, tensor<3xf32>, tensor<f32>, tensor<3xf32>)
    %73 = stablehlo.slice %28 [4:5] : (tensor<15xf32>) -> tensor<1xf32>
    %74 = stablehlo.reshape %73 : (tensor<1xf32>) -> tensor<f32>
    %75 = stablehlo.slice %30 [4:5] : (tensor<15xf32>) -> tensor<1xf32>
    %76 = stablehlo.reshape %75 : (tensor<1xf32>) -> tensor<f32>
    %77 = stablehlo.slice %32 [4:5] : (tensor<15xf32>) -> tensor<1xf32>
    %78 = stablehlo.reshape %77 : (tensor<1xf32>) -> tensor<f32>
    %79 = stablehlo.slice %34 [4:5, 0:3] : (tensor<15x3xf32>) -> tensor<1x3xf32>
    %80 = stablehlo.reshape %79 : (tensor<1x3xf32>) -> tensor<3xf32>
    %81:4 = call @closed_call(%72#0, %72#1, %74, %76, %78, %80) : (tensor<f32>, tensor<3xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<3xf32>) -> (tensor<f32>, tensor<3xf32>, tensor<f32>, tensor<3xf32>)
    %82 = stablehlo.slice %28 [5:6] : (tensor<15xf32>) -> tensor<1xf32>
    %83 = stablehlo.reshape %82 : (tensor<1xf32>) -> tensor<f32>
    %84 = stablehlo.slice %30 [5:6] : (tensor<15xf32>) -> tensor<1xf32>
    %85 = stablehlo.reshape %84 : (tensor<1xf32>) -> tensor<f32>
    %86 = stablehlo.slice %32 [5:6] : (tensor<15xf32>) -> tensor<1xf32>
    %87 = stablehlo.reshape %86 : (tensor<1xf32>) -> tensor<f32>
    %88 = stablehlo.slice %34 [5:6, 0:3] : (tensor<15x3xf32>) -> tensor<1x3xf32>
    %89 = stablehlo.reshape %88 : (tensor<1x3xf32>) -> tensor<3xf32>
    %90:4 = call @closed_call(%81#0, %81#1, %83, %85, %87, %89) : (tensor<f32>, tensor<3xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<3xf32>) -> (tensor<f32>, tensor<3xf32>, tensor<f32>, tensor<3xf32>)
    %91 = stablehlo.slice %28 [6:7] : (tensor<15xf32>) -> tensor<1xf32>
    %92 = stablehlo.reshape %91 : (tensor<1xf32>) -> tensor<f32>
    %93 = stablehlo.slice %30 [6:7] : (tensor<15xf32>) -> tensor<1xf32>
    %94 = stablehlo.reshape %93 : (tensor<1xf32>) -> tensor<f32>
    %95 = stablehlo.slice %32 [6:7] : (tensor<15xf32>) -> tensor<1xf32>
    %96 = stablehlo.reshape %95 : (tensor<1xf32>) -> tensor<f32>
    %97 = stablehlo.slice %34 [6:7, 0:3] : (tensor<15x3xf32>) -> tensor<1x3xf32>
    %98 = stablehlo.reshape %97 : (tensor<1x3xf32>) -> tensor<3xf32>
    %99:4 = call @closed_call(%90#0, %90#1, %92, %94, %96, %98) : (tensor<f32>, tensor<3xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<3xf32>) -> (tensor<f32>, tensor<3xf32>, tensor<f32>, tensor<3xf32>)
    %100 = stablehlo.slice %28 [7:8] : (tensor<15xf32>) -> tensor<1xf32>
    %101 = stablehlo.reshape %100 : (tensor<1xf32>) -> tensor<f32>
    %102 = stablehlo.slice %30 [7:8] : (tensor<15xf32>) -> tensor<1xf32>
    %103 = stablehlo.reshape %102 : (tensor<1xf32>) -> tensor<f32>
    %104 = stablehlo.slice %32 [7:8] : (tensor<15xf32>) -> tensor<1xf32>
    %105 = stablehlo.reshape %104 : (tensor<1xf32>) -> tensor<f32>
    %106 = stablehlo.slice %34 [7:8, 0:3] : (tensor<15x3xf32>) -> tensor<1x3xf32>
    %107 = stablehlo.reshape %106 : (tensor<1x3xf32>) -> tensor<3xf32>
    %108:4 = call @closed_call(%99#0, %99#1, %101, %103, %105, %107) : (tensor<f32>, tensor<3xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<3xf32>) -> (tensor<f32>, tensor<3xf32>, tensor<f32>, tensor<3xf32>)
    %109 = stablehlo.slice %28 [8:9] : (tensor<15xf32>) -> tensor<1xf32>
    %110 = stablehlo.reshape %109 : (tensor<1xf32>) -> tensor<f32>
    %111 = stablehlo.slice %30 [8:9] : (tensor<15xf32>) -> tensor<1xf32>
    %112 = stablehlo.reshape %111 : (tensor<1xf32>) -> tensor<f32>
    %113 = stablehlo.slice %32 [8:9] : (tensor<15xf32>) -> tensor<1xf32>
    %114 = stablehlo.reshape %113 : (tensor<1xf32>) -> tensor<f32>
    %115 = stablehlo.slice %34 [8:9, 0:3] : (tensor<15x3xf32>) -> tensor<1x3xf32>
    %116 = stablehlo.reshape %115 : (tensor<1x3xf32>) -> tensor<3xf32>
    %117:4 = call @closed_call(%108#0, %108#1, %110, %112, %114, %116) : (tensor<f32>, tensor<3xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<3xf32>) -> (tensor<f32>, tensor<3xf32>, tensor<f32>, tensor<3xf32>)
    %118 = stablehlo.slice %28 [9:10] : (tensor<15xf32>) -> tensor<1xf32>
    %119 = stablehlo.reshape %118 : (tensor<1xf32>) -> tensor<f32>
    %120 = stablehlo.slice %30 [9:10] : (tensor<15xf32>) -> tensor<1xf32>
    %121 = stablehlo.reshape %120 : (tensor<1xf32>) -> tensor<f32>
    %122 = stablehlo.slice %32 [9:10] : (tensor<15xf32>) -> tensor<1xf32>
    %123 = stablehlo.reshape %122 : (tensor<1xf32>) -> tensor<f32>
    %124 = stablehlo.slice %34 [9:10, 0:3] : (tensor<15x3xf32>) -> tensor<1x3xf32>
    %125 = stablehlo.reshape %124 : (tensor<1x3xf32>) -> tensor<3xf32>
    %126:4 = call @closed_call(%117#0, %117#1, %119, %121, %123, %125) : (tensor<f32>, tensor<3xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<3xf32>) -> (tensor<f32>, tensor<3xf32>, tensor<f32>, tensor<3xf32>)
    %127 = stablehlo.slice %28 [10:11] : (tensor<15xf32>) -> tensor<1xf32>
    %128 = stablehlo.reshape %127 : (tensor<1xf32>) -> tensor<f32>
    %129 = stablehlo.slice %30 [10:11] : (tensor<15xf32>) -> tensor<1xf32>
    %130 = stablehlo.reshape %129 : (tensor<1xf32>) -> tensor<f32>
    %131 = stablehlo.slice %32 [10:11] : (tensor<15xf32>) -> tensor<1xf32>
    %132 = stablehlo.reshape %131 : (tensor<1xf32>) -> tensor<f32>
    %133 = stablehlo.slice %34 [10:11, 0:3] : (tensor<15x3xf32>) -> tensor<1x3xf32>
    %134 = stablehlo.reshape %133 : (tensor<1x3xf32>) -> tensor<3xf32>
    %135:4 = call @closed_call(%126#0, %126#1, %128, %130, %132, %134) : (tensor<f32>, tensor<3xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<3xf32>) -> (tensor<f32>, tensor<3xf32>, tensor<f32>, tensor<3xf32>)
    %136 = stablehlo.slice %28 [11:12] : (tensor<15xf32>) -> tensor<1xf32>
    %137 = stablehlo.reshape %136 : (tensor<1xf32>) -> tensor<f32>
    %138 = stablehlo.slice %30 [11:12] : (tensor<15xf32>) -> tensor<1xf32>
    %139 = stablehlo.reshape %138 : (tensor<1xf32>) -> tensor<f32>
    %140 = stablehlo.slice %32 [11:12] : (tensor<15xf32>) -> tensor<1xf32>
    %141 = stablehlo.reshape %140 : (tensor<1xf32>) -> tensor<f32>
    %142 = stablehlo.slice %34 [11:12, 0:3] : (tensor<15x3xf32>) -> tensor<1x3xf32>
    %143 = stablehlo.reshape %142 : (tensor<1x3xf32>) -> tensor<3xf32>
    %144:4 = call @closed_call(%135#0, %135#1, %137, %139, %141, %143) : (tensor<f32>, tensor<3xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<3xf32>) -> (tensor<f32>, tensor<3xf32>, tensor<f32>, tensor<3xf32>)
    %145 = stablehlo.slice %28 [12:13] : (tensor<15xf32>) -> tensor<1xf32>
    %146 = stablehlo.reshape %145 : (tensor<1xf32>) -> tensor<f32>
    %147 = stablehlo.slice %30 [12:13] : (tensor<15xf32>) -> tensor<1xf32>
    %148 = stablehlo.reshape %147 : (tensor<1xf32>) -> tensor<f32>
    %149 = stablehlo.slice %32 [12:13] : (tensor<15xf32>) -> tensor<1xf32>
    %150 = stablehlo.reshape %149 : (tensor<1xf32>) -> tensor<f32>
    %151 = stablehlo.slice %34 [12:13, 0:3] : (tensor<15x3xf32>) -> tensor<1x3xf32>
    %152 = stablehlo.reshape %151 : (tensor<1x3xf32>) -> tensor<3xf32>
    %153:4 = call @closed_call(%144#0, %144#1, %146, %148, %150, %152) : (tensor<f32>, tensor<3xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<3xf32>) -> (tensor<f32>, tensor<3xf32>, tensor<f32>, tensor<3xf32>)
    %154 = stablehlo.slice %28 [13:14] : (tensor<15xf32>) -> tensor<1xf32>
    %155 = stablehlo.reshape %154 : (tensor<1xf32>) -> tensor<f32>
    %156 = stablehlo.slice %30 [13:14] : (tensor<15xf32>) -> tensor<1xf32>
    %157 = stablehlo.reshape %156 : (tensor<1xf32>) -> tensor<f32>
    %158 = stablehlo.slice %32 [13:14] : (tensor<15xf32>) -> tensor<1xf32>
    %159 = stablehlo.reshape %158 : (tensor<1xf32>) -> tensor<f32>
    %160 = stablehlo.slice %34 [13:14, 0:3] : (tensor<15x3xf32>) -> tensor<1x3xf32>
    %161 = stablehlo.reshape %160 : (tensor<1x3xf32>) -> tensor<3xf32>
    %162:4 = call @closed_call(%153#0, %153#1, %155, %157, %159, %161) : (tensor<f32>, tensor<3xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<3xf32>) -> (tensor<f32>, tensor<3xf32>, tensor<f32>, tensor<3xf32>)
    %163 = stablehlo.slice %28 [14:15] : (tensor<15xf32>) -> tensor<1xf32>
    %164 = stablehlo.reshape %163 : (tensor<1xf32>) -> tensor<f32>
    %165 = stablehlo.slice %30 [14:15] : (tensor<15xf32>) -> tensor<1xf32>
    %166 = stablehlo.reshape %165 : (tensor<1xf32>) -> tensor<f32>
    %167 = stablehlo.slice %32 [14:15] : (tensor<15xf32>) -> tensor<1xf32>
    %168 = stablehlo.reshape %167 : (tensor<1xf32>) -> tensor<f32>
    %169 = stablehlo.slice %34 [14:15, 0:3] : (tensor<15x3xf32>) -> tensor<1x3xf32>
    %170 = stablehlo.reshape %169 : (tensor<1x3xf32>) -> tensor<3xf32>
    %171:4 = call @closed_call(%162#0, %162#1, %164, %166, %168, %170) : (tensor<f32>, tensor<3xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<3xf32>) -> (tensor<f32>, tensor<3xf32>, tensor<f32>, tensor<3xf32>)
    %172 = stablehlo.broadcast_in_dim %45#2, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %173 = stablehlo.broadcast_in_dim %54#2, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %174 = stablehlo.broadcast_in_dim %63#2, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %175 = stablehlo.broadcast_in_dim %72#2, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %176 = stablehlo.broadcast_in_dim %81#2, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %177 = stablehlo.broadcast_in_dim %90#2, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %178 = stablehlo.broadcast_in_dim %99#2, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %179 = stablehlo.broadcast_in_dim %108#2, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %180 = stablehlo.broadcast_in_dim %117#2, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %181 = stablehlo.broadcast_in_dim %126#2, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %182 = stablehlo.broadcast_in_dim %135#2, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %183 = stablehlo.broadcast_in_dim %144#2, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %184 = stablehlo.broadcast_in_dim %153#2, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %185 = stablehlo.broadcast_in_dim %162#2, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %186 = stablehlo.broadcast_in_dim %171#2, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %187 = stablehlo.concatenate %172, %173, %174, %175, %176, %177, %178, %179, %180, %181, %182, %183, %184, %185, %186, dim = 0 : (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<15xf32>
    %188 = stablehlo.broadcast_in_dim %45#3, dims = [1] : (tensor<3xf32>) -> tensor<1x3xf32>
    %189 = stablehlo.broadcast_in_dim %54#3, dims = [1] : (tensor<3xf32>) -> tensor<1x3xf32>
    %190 = stablehlo.broadcast_in_dim %63#3, dims = [1] : (tensor<3xf32>) -> tensor<1x3xf32>
    %191 = stablehlo.broadcast_in_dim %72#3, dims = [1] : (tensor<3xf32>) -> tensor<1x3xf32>
    %192 = stablehlo.broadcast_in_dim %81#3, dims = [1] : (tensor<3xf32>) -> tensor<1x3xf32>
    %193 = stablehlo.broadcast_in_dim %90#3, dims = [1] : (tensor<3xf32>) -> tensor<1x3xf32>
    %194 = stablehlo.broadcast_in_dim %99#3, dims = [1] : (tensor<3xf32>) -> tensor<1x3xf32>
    %195 = stablehlo.broadcast_in_dim %108#3, dims = [1] : (tensor<3xf32>) -> tensor<1x3xf32>
    %196 = stablehlo.broadcast_in_dim %117#3, dims = [1] : (tensor<3xf32>) -> tensor<1x3xf32>
    %197 = stablehlo.broadcast_in_dim %126#3, dims = [1] : (tensor<3xf32>) -> tensor<1x3xf32>
    %198 = stablehlo.broadcast_in_dim %135#3, dims = [1] : (tensor<3xf32>) -> tensor<1x3xf32>
    %199 = stablehlo.broadcast_in_dim %144#3, dims = [1] : (tensor<3xf32>) -> tensor<1x3xf32>
    %200 = stablehlo.broadcast_in_dim %153#3, dims = [1] : (tensor<3xf32>) -> tensor<1x3xf32>
    %201 = stablehlo.broadcast_in_dim %162#3, dims = [1] : (tensor<3xf32>) -> tensor<1x3xf32>
    %202 = stablehlo.broadcast_in_dim %171#3, dims = [1] : (tensor<3xf32>) -> tensor<1x3xf32>
    %203 = stablehlo.concatenate %188, %189, %190, %191, %192, %193, %194, %195, %196, %197, %198, %199, %200, %201, %202, dim = 0 : (tensor<1x3xf32>, tensor<1x3xf32>, tensor<1x3xf32>, tensor<1x3xf32>, tensor<1x3xf32>, tensor<1x3xf32>, tensor<1x3xf32>, tensor<1x3xf32>, tensor<1x3xf32>, tensor<1x3xf32>, tensor<1x3xf32>, tensor<1x3xf32>, tensor<1x3xf32>, tensor<1x3xf32>, tensor<1x3xf32>) -> tensor<15x3xf32>
    %204 = stablehlo.concatenate %35, %187, dim = 0 : (tensor<0xf32>, tensor<15xf32>) -> tensor<15xf32>
    %205 = stablehlo.concatenate %36, %203, dim = 0 : (tensor<0x3xf32>, tensor<15x3xf32>) -> tensor<15x3xf32>
    %206 = stablehlo.slice %204 [0:15] : (tensor<15xf32>) -> tensor<15xf32>
    %207 = stablehlo.slice %204 [15:15] : (tensor<15xf32>) -> tensor<0xf32>
    %208 = stablehlo.slice %205 [0:15, 0:3] : (tensor<15x3xf32>) -> tensor<15x3xf32>
    %209 = stablehlo.slice %205 [15:15, 0:3] : (tensor<15x3xf32>) -> tensor<0x3xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %210 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<0x3xf32>
    %211 = stablehlo.slice %206 [14:15] : (tensor<15xf32>) -> tensor<1xf32>
    %212 = stablehlo.reshape %211 : (tensor<1xf32>) -> tensor<f32>
    %213 = stablehlo.slice %208 [14:15, 0:3] : (tensor<15x3xf32>) -> tensor<1x3xf32>
    %214 = stablehlo.reshape %213 : (tensor<1x3xf32>) -> tensor<3xf32>
    %215:2 = call @closed_call_0(%171#1, %212, %214) : (tensor<3xf32>, tensor<f32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
    %216 = stablehlo.slice %206 [13:14] : (tensor<15xf32>) -> tensor<1xf32>
    %217 = stablehlo.reshape %216 : (tensor<1xf32>) -> tensor<f32>
    %218 = stablehlo.slice %208 [13:14, 0:3] : (tensor<15x3xf32>) -> tensor<1x3xf32>
    %219 = stablehlo.reshape %218 : (tensor<1x3xf32>) -> tensor<3xf32>
    %220:2 = call @closed_call_0(%215#0, %217, %219) : (tensor<3xf32>, tensor<f32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
    %221 = stablehlo.slice %206 [12:13] : (tensor<15xf32>) -> tensor<1xf32>
    %222 = stablehlo.reshape %221 : (tensor<1xf32>) -> tensor<f32>
    %223 = stablehlo.slice %208 [12:13, 0:3] : (tensor<15x3xf32>) -> tensor<1x3xf32>
    %224 = stablehlo.reshape %223 : (tensor<1x3xf32>) -> tensor<3xf32>
    %225:2 = call @closed_call_0(%220#0, %222, %224) : (tensor<3xf32>, tensor<f32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
    %226 = stablehlo.slice %206 [11:12] : (tensor<15xf32>) -> tensor<1xf32>
    %227 = stablehlo.reshape %226 : (tensor<1xf32>) -> tensor<f32>
    %228 = stablehlo.slice %208 [11:12, 0:3] : (tensor<15x3xf32>) -> tensor<1x3xf32>
    %229 = stablehlo.reshape %228 : (tensor<1x3xf32>) -> tensor<3xf32>
    %230:2 = call @closed_call_0(%225#0, %227, %229) : (tensor<3xf32>, tensor<f32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
    %231 = stablehlo.slice %206 [10:11] : (tensor<15xf32>) -> tensor<1xf32>
    %232 = stablehlo.reshape %231 : (tensor<1xf32>) -> tensor<f32>
    %233 = stablehlo.slice %208 [10:11, 0:3] : (tensor<15x3xf32>) -> tensor<1x3xf32>
    %234 = stablehlo.reshape %233 : (tensor<1x3xf32>) -> tensor<3xf32>
    %235:2 = call @closed_call_0(%230#0, %232, %234) : (tensor<3xf32>, tensor<f32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
    %236 = stablehlo.slice %206 [9:10] : (tensor<15xf32>) -> tensor<1xf32>
    %237 = stablehlo.reshape %236 : (tensor<1xf32>) -> tensor<f32>
    %238 = stablehlo.slice %208 [9:10, 0:3] : (tensor<15x3xf32>) -> tensor<1x3xf32>
    %239 = stablehlo.reshape %238 : (tensor<1x3xf32>) -> tensor<3xf32>
    %240:2 = call @closed_call_0(%235#0, %237, %239) : (tensor<3xf32>, tensor<f32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
    %241 = stablehlo.slice %206 [8:9] : (tensor<15xf32>) -> tensor<1xf32>
    %242 = stablehlo.reshape %241 : (tensor<1xf32>) -> tensor<f32>
    %243 = stablehlo.slice %208 [8:9, 0:3] : (tensor<15x3xf32>) -> tensor<1x3xf32>
    %244 = stablehlo.reshape %243 : (tensor<1x3xf32>) -> tensor<3xf32>
    %245:2 = call @closed_call_0(%240#0, %242, %244) : (tensor<3xf32>, tensor<f32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
    %246 = stablehlo.slice %206 [7:8] : (tensor<15xf32>) -> tensor<1xf32>
    %247 = stablehlo.reshape %246 : (tensor<1xf32>) -> tensor<f32>
    %248 = stablehlo.slice %208 [7:8, 0:3] : (tensor<15x3xf32>) -> tensor<1x3xf32>
    %249 = stablehlo.reshape %248 : (tensor<1x3xf32>) -> tensor<3xf32>
    %250:2 = call @closed_call_0(%245#0, %247, %249) : (tensor<3xf32>, tensor<f32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
    %251 = stablehlo.slice %206 [6:7] : (tensor<15xf32>) -> tensor<1xf32>
    %252 = stablehlo.reshape %251 : (tensor<1xf32>) -> tensor<f32>
    %253 = stablehlo.slice %208 [6:7, 0:3] : (tensor<15x3xf32>) -> tensor<1x3xf32>
    %254 = stablehlo.reshape %253 : (tensor<1x3xf32>) -> tensor<3xf32>
    %255:2 = call @closed_call_0(%250#0, %252, %254) : (tensor<3xf32>, tensor<f32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
    %256 = stablehlo.slice %206 [5:6] : (tensor<15xf32>) -> tensor<1xf32>
    %257 = stablehlo.reshape %256 : (tensor<1xf32>) -> tensor<f32>
    %258 = stablehlo.slice %208 [5:6, 0:3] : (tensor<15x3xf32>) -> tensor<1x3xf32>
    %259 = stablehlo.reshape %258 : (tensor<1x3xf32>) -> tensor<3xf32>
    %260:2 = call @closed_call_0(%255#0, %257, %259) : (tensor<3xf32>, tensor<f32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
    %261 = stablehlo.slice %206 [4:5] : (tensor<15xf32>) -> tensor<1xf32>
    %262 = stablehlo.reshape %261 : (tensor<1xf32>) -> tensor<f32>
    %263 = stablehlo.slice %208 [4:5, 0:3] : (tensor<15x3xf32>) -> tensor<1x3xf32>
    %264 = stablehlo.reshape %263 : (tensor<1x3xf32>) -> tensor<3xf32>
    %265:2 = call @closed_call_0(%260#0, %262, %264) : (tensor<3xf32>, tensor<f32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
    %266 = stablehlo.slice %206 [3:4] : (tensor<15xf32>) -> tensor<1xf32>
    %267 = stablehlo.reshape %266 : (tensor<1xf32>) -> tensor<f32>
    %268 = stablehlo.slice %208 [3:4, 0:3] : (tensor<15x3xf32>) -> tensor<1x3xf32>
    %269 = stablehlo.reshape %268 : (tensor<1x3xf32>) -> tensor<3xf32>
    %270:2 = call @closed_call_0(%265#0, %267, %269) : (tensor<3xf32>, tensor<f32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
    %271 = stablehlo.slice %206 [2:3] : (tensor<15xf32>) -> tensor<1xf32>
    %272 = stablehlo.reshape %271 : (tensor<1xf32>) -> tensor<f32>
    %273 = stablehlo.slice %208 [2:3, 0:3] : (tensor<15x3xf32>) -> tensor<1x3xf32>
    %274 = stablehlo.reshape %273 : (tensor<1x3xf32>) -> tensor<3xf32>
    %275:2 = call @closed_call_0(%270#0, %272, %274) : (tensor<3xf32>, tensor<f32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
    %276 = stablehlo.slice %206 [1:2] : (tensor<15xf32>) -> tensor<1xf32>
    %277 = stablehlo.reshape %276 : (tensor<1xf32>) -> tensor<f32>
    %278 = stablehlo.slice %208 [1:2, 0:3] : (tensor<15x3xf32>) -> tensor<1x3xf32>
    %279 = stablehlo.reshape %278 : (tensor<1x3xf32>) -> tensor<3xf32>
    %280:2 = call @closed_call_0(%275#0, %277, %279) : (tensor<3xf32>, tensor<f32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
    %281 = stablehlo.slice %206 [0:1] : (tensor<15xf32>) -> tensor<1xf32>
    %282 = stablehlo.reshape %281 : (tensor<1xf32>) -> tensor<f32>
    %283 = stablehlo.slice %208 [0:1, 0:3] : (tensor<15x3xf32>) -> tensor<1x3xf32>
    %284 = stablehlo.reshape %283 : (tensor<1x3xf32>) -> tensor<3xf32>
    %285:2 = call @closed_call_0(%280#0, %282, %284) : (tensor<3xf32>, tensor<f32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
    %286 = stablehlo.broadcast_in_dim %285#1, dims = [1] : (tensor<3xf32>) -> tensor<1x3xf32>
    %287 = stablehlo.broadcast_in_dim %280#1, dims = [1] : (tensor<3xf32>) -> tensor<1x3xf32>
    %288 = stablehlo.broadcast_in_dim %275#1, dims = [1] : (tensor<3xf32>) -> tensor<1x3xf32>
    %289 = stablehlo.broadcast_in_dim %270#1, dims = [1] : (tensor<3xf32>) -> tensor<1x3xf32>
    %290 = stablehlo.broadcast_in_dim %265#1, dims = [1] : (tensor<3xf32>) -> tensor<1x3xf32>
    %291 = stablehlo.broadcast_in_dim %260#1, dims = [1] : (tensor<3xf32>) -> tensor<1x3xf32>
    %292 = stablehlo.broadcast_in_dim %255#1, dims = [1] : (tensor<3xf32>) -> tensor<1x3xf32>
    %293 = stablehlo.broadcast_in_dim %250#1, dims = [1] : (tensor<3xf32>) -> tensor<1x3xf32>
    %294 = stablehlo.broadcast_in_dim %245#1, dims = [1] : (tensor<3xf32>) -> tensor<1x3xf32>
    %295 = stablehlo.broadcast_in_dim %240#1, dims = [1] : (tensor<3xf32>) -> tensor<1x3xf32>
    %296 = stablehlo.broadcast_in_dim %235#1, dims = [1] : (tensor<3xf32>) -> tensor<1x3xf32>
    %297 = stablehlo.broadcast_in_dim %230#1, dims = [1] : (tensor<3xf32>) -> tensor<1x3xf32>
    %298 = stablehlo.broadcast_in_dim %225#1, dims = [1] : (tensor<3xf32>) -> tensor<1x3xf32>
    %299 = stablehlo.broadcast_in_dim %220#1, dims = [1] : (tensor<3xf32>) -> tensor<1x3xf32>
    %300 = stablehlo.broadcast_in_dim %215#1, dims = [1] : (tensor<3xf32>) -> tensor<1x3xf32>
    %301 = stablehlo.concatenate %286, %287, %288, %289, %290, %291, %292, %293, %294, %295, %296, %297, %298, %299, %300, dim = 0 : (tensor<1x3xf32>, tensor<1x3xf32>, tensor<1x3xf32>, tensor<1x3xf32>, tensor<1x3xf32>, tensor<1x3xf32>, tensor<1x3xf32>, tensor<1x3xf32>, tensor<1x3xf32>, tensor<1x3xf32>, tensor<1x3xf32>, tensor<1x3xf32>, tensor<1x3xf32>, tensor<1x3xf32>, tensor<1x3xf32>) -> tensor<15x3xf32>
    %302 = stablehlo.concatenate %301, %210, dim = 0 : (tensor<15x3xf32>, tensor<0x3xf32>) -> tensor<15x3xf32>
    %303 = stablehlo.broadcast_in_dim %285#0, dims = [1] : (tensor<3xf32>) -> tensor<1x3xf32>
    %304 = stablehlo.concatenate %303, %302, dim = 0 : (tensor<1x3xf32>, tensor<15x3xf32>) -> tensor<16x3xf32>
    return %304 : tensor<16x3xf32>
  }
  func.func private @closed_call(%arg0: tensor<f32>, %arg1: tensor<3xf32>, %arg2: tensor<f32>, %arg3: tensor<f32>, %arg4: tensor<f32>, %arg5: tensor<3xf32>) -> (tensor<f32>, tensor<3xf32>, tensor<f32>, tensor<3xf32>) {
    %0 = stablehlo.multiply %arg2, %arg0 : tensor<f32>
    %1 = stablehlo.subtract %arg3, %0 : tensor<f32>
    %2 = stablehlo.divide %arg4, %1 : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %4 = stablehlo.multiply %3, %arg1 : tensor<3xf32>
    %5 = stablehlo.subtract %arg5, %4 : tensor<3xf32>
    %6 = stablehlo.multiply %arg2, %arg0 : tensor<f32>
    %7 = stablehlo.subtract %arg3, %6 : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %9 = stablehlo.divide %5, %8 : tensor<3xf32>
    return %2, %9, %arg0, %arg1 : tensor<f32>, tensor<3xf32>, tensor<f32>, tensor<3xf32>
  }
  func.func private @closed_call_0(%arg0: tensor<3xf32>, %arg1: tensor<f32>, %arg2: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %1 = stablehlo.multiply %0, %arg0 : tensor<3xf32>
    %2 = stablehlo.subtract %arg2, %1 : tensor<3xf32>
    return %2, %arg0 : tensor<3xf32>, tensor<3xf32>
  }
}
