module @jit_special_functions attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @empty_mesh = <[]> {stablehlo.mesh = {axes = []}}
  func.func public @main(%arg0: tensor<6x140xf32> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}, %arg1: tensor<6x140xf32> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}) -> (tensor<6x140xf32> {jax.result_info = "result[0]"}, tensor<6x140xf32> {jax.result_info = "result[1]"}, tensor<6x140xf32> {jax.result_info = "result[2]"}, tensor<6x140xf32> {jax.result_info = "result[3]"}, tensor<6x140xf32> {jax.result_info = "result[4]"}, tensor<6x140xf32> {jax.result_info = "result[5]"}, tensor<6x140xf32> {jax.result_info = "result[6]"}) {
    %0 = chlo.lgamma %arg0 : tensor<6x140xf32> -> tensor<6x140xf32>
    %1 = chlo.erfc %arg0 : tensor<6x140xf32> -> tensor<6x140xf32>
    %2 = stablehlo.abs %arg1 : tensor<6x140xf32>
    %cst = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<6x140xf32>
    %cst_0 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<6x140xf32>
    %cst_1 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<6x140xf32>
    %6 = stablehlo.multiply %3, %2 : tensor<6x140xf32>
    %7 = stablehlo.subtract %6, %4 : tensor<6x140xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<6x140xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<6x140xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<6x140xf32>
    %11 = stablehlo.multiply %7, %8 : tensor<6x140xf32>
    %12 = stablehlo.subtract %11, %9 : tensor<6x140xf32>
    %cst_5 = stablehlo.constant dense<-1.30002498E-8> : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<6x140xf32>
    %14 = stablehlo.add %12, %13 : tensor<6x140xf32>
    %15 = stablehlo.multiply %7, %14 : tensor<6x140xf32>
    %16 = stablehlo.subtract %15, %8 : tensor<6x140xf32>
    %cst_6 = stablehlo.constant dense<6.04699508E-8> : tensor<f32>
    %17 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<6x140xf32>
    %18 = stablehlo.add %16, %17 : tensor<6x140xf32>
    %19 = stablehlo.multiply %7, %18 : tensor<6x140xf32>
    %20 = stablehlo.subtract %19, %14 : tensor<6x140xf32>
    %cst_7 = stablehlo.constant dense<-2.67079372E-7> : tensor<f32>
    %21 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<6x140xf32>
    %22 = stablehlo.add %20, %21 : tensor<6x140xf32>
    %23 = stablehlo.multiply %7, %22 : tensor<6x140xf32>
    %24 = stablehlo.subtract %23, %18 : tensor<6x140xf32>
    %cst_8 = stablehlo.constant dense<1.11738757E-6> : tensor<f32>
    %25 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<6x140xf32>
    %26 = stablehlo.add %24, %25 : tensor<6x140xf32>
    %27 = stablehlo.multiply %7, %26 : tensor<6x140xf32>
    %28 = stablehlo.subtract %27, %22 : tensor<6x140xf32>
    %cst_9 = stablehlo.constant dense<-4.41673819E-6> : tensor<f32>
    %29 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<6x140xf32>
    %30 = stablehlo.add %28, %29 : tensor<6x140xf32>
    %31 = stablehlo.multiply %7, %30 : tensor<6x140xf32>
    %32 = stablehlo.subtract %31, %26 : tensor<6x140xf32>
    %cst_10 = stablehlo.constant dense<1.64484482E-5> : tensor<f32>
    %33 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<6x140xf32>
    %34 = stablehlo.add %32, %33 : tensor<6x140xf32>
    %35 = stablehlo.multiply %7, %34 : tensor<6x140xf32>
    %36 = stablehlo.subtract %35, %30 : tensor<6x140xf32>
    %cst_11 = stablehlo.constant dense<-5.75419508E-5> : tensor<f32>
    %37 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<6x140xf32>
    %38 = stablehlo.add %36, %37 : tensor<6x140xf32>
    %39 = stablehlo.multiply %7, %38 : tensor<6x140xf32>
    %40 = stablehlo.subtract %39, %34 : tensor<6x140xf32>
    %cst_12 = stablehlo.constant dense<1.88502891E-4> : tensor<f32>
    %41 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<6x140xf32>
    %42 = stablehlo.add %40, %41 : tensor<6x140xf32>
    %43 = stablehlo.multiply %7, %42 : tensor<6x140xf32>
    %44 = stablehlo.subtract %43, %38 : tensor<6x140xf32>
    %cst_13 = stablehlo.constant dense<-5.76375576E-4> : tensor<f32>
    %45 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<6x140xf32>
    %46 = stablehlo.add %44, %45 : tensor<6x140xf32>
    %47 = stablehlo.multiply %7, %46 : tensor<6x140xf32>
    %48 = stablehlo.subtract %47, %42 : tensor<6x140xf32>
    %cst_14 = stablehlo.constant dense<0.00163947558> : tensor<f32>
    %49 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<6x140xf32>
    %50 = stablehlo.add %48, %49 : tensor<6x140xf32>
    %51 = stablehlo.multiply %7, %50 : tensor<6x140xf32>
    %52 = stablehlo.subtract %51, %46 : tensor<6x140xf32>
    %cst_15 = stablehlo.constant dense<-4.324310e-03> : tensor<f32>
    %53 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<6x140xf32>
    %54 = stablehlo.add %52, %53 : tensor<6x140xf32>
    %55 = stablehlo.multiply %7, %54 : tensor<6x140xf32>
    %56 = stablehlo.subtract %55, %50 : tensor<6x140xf32>
    %cst_16 = stablehlo.constant dense<0.0105464607> : tensor<f32>
    %57 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f32>) -> tensor<6x140xf32>
    %58 = stablehlo.add %56, %57 : tensor<6x140xf32>
    %59 = stablehlo.multiply %7, %58 : tensor<6x140xf32>
    %60 = stablehlo.subtract %59, %54 : tensor<6x140xf32>
    %cst_17 = stablehlo.constant dense<-0.0237374157> : tensor<f32>
    %61 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<f32>) -> tensor<6x140xf32>
    %62 = stablehlo.add %60, %61 : tensor<6x140xf32>
    %63 = stablehlo.multiply %7, %62 : tensor<6x140xf32>
    %64 = stablehlo.subtract %63, %58 : tensor<6x140xf32>
    %cst_18 = stablehlo.constant dense<0.0493052825> : tensor<f32>
    %65 = stablehlo.broadcast_in_dim %cst_18, dims = [] : (tensor<f32>) -> tensor<6x140xf32>
    %66 = stablehlo.add %64, %65 : tensor<6x140xf32>
    %67 = stablehlo.multiply %7, %66 : tensor<6x140xf32>
    %68 = stablehlo.subtract %67, %62 : tensor<6x140xf32>
    %cst_19 = stablehlo.constant dense<-9.490110e-02> : tensor<f32>
    %69 = stablehlo.broadcast_in_dim %cst_19, dims = [] : (tensor<f32>) -> tensor<6x140xf32>
    %70 = stablehlo.add %68, %69 : tensor<6x140xf32>
    %71 = stablehlo.multiply %7, %70 : tensor<6x140xf32>
    %72 = stablehlo.subtract %71, %66 : tensor<6x140xf32>
    %cst_20 = stablehlo.constant dense<0.171620905> : tensor<f32>
    %73 = stablehlo.broadcast_in_dim %cst_20, dims = [] : (tensor<f32>) -> tensor<6x140xf32>
    %74 = stablehlo.add %72, %73 : tensor<6x140xf32>
    %75 = stablehlo.multiply %7, %74 : tensor<6x140xf32>
    %76 = stablehlo.subtract %75, %70 : tensor<6x140xf32>
    %cst_21 = stablehlo.constant dense<-0.304682672> : tensor<f32>
    %77 = stablehlo.broadcast_in_dim %cst_21, dims = [] : (tensor<f32>) -> tensor<6x140xf32>
    %78 = stablehlo.add %76, %77 : tensor<6x140xf32>
    %79 = stablehlo.multiply %7, %78 : tensor<6x140xf32>
    %80 = stablehlo.subtract %79, %74 : tensor<6x140xf32>
    %cst_22 = stablehlo.constant dense<0.676795303> : tensor<f32>
    %81 = stablehlo.broadcast_in_dim %cst_22, dims = [] : (tensor<f32>) -> tensor<6x140xf32>
    %82 = stablehlo.add %80, %81 : tensor<6x140xf32>
    %83 = stablehlo.subtract %82, %74 : tensor<6x140xf32>
    %cst_23 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %84 = stablehlo.broadcast_in_dim %cst_23, dims = [] : (tensor<f32>) -> tensor<6x140xf32>
    %85 = stablehlo.multiply %84, %83 : tensor<6x140xf32>
    %86 = stablehlo.divide %5, %2 : tensor<6x140xf32>
    %87 = stablehlo.subtract %86, %4 : tensor<6x140xf32>
    %cst_24 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %88 = stablehlo.broadcast_in_dim %cst_24, dims = [] : (tensor<f32>) -> tensor<6x140xf32>
    %cst_25 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %89 = stablehlo.broadcast_in_dim %cst_25, dims = [] : (tensor<f32>) -> tensor<6x140xf32>
    %cst_26 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %90 = stablehlo.broadcast_in_dim %cst_26, dims = [] : (tensor<f32>) -> tensor<6x140xf32>
    %91 = stablehlo.multiply %87, %88 : tensor<6x140xf32>
    %92 = stablehlo.subtract %91, %89 : tensor<6x140xf32>
    %cst_27 = stablehlo.constant dense<3.39623196E-9> : tensor<f32>
    %93 = stablehlo.broadcast_in_dim %cst_27, dims = [] : (tensor<f32>) -> tensor<6x140xf32>
    %94 = stablehlo.add %92, %93 : tensor<6x140xf32>
    %95 = stablehlo.multiply %87, %94 : tensor<6x140xf32>
    %96 = stablehlo.subtract %95, %88 : tensor<6x140xf32>
    %cst_28 = stablehlo.constant dense<2.26666899E-8> : tensor<f32>
    %97 = stablehlo.broadcast_in_dim %cst_28, dims = [] : (tensor<f32>) -> tensor<6x140xf32>
    %98 = stablehlo.add %96, %97 : tensor<6x140xf32>
    %99 = stablehlo.multiply %87, %98 : tensor<6x140xf32>
    %100 = stablehlo.subtract %99, %94 : tensor<6x140xf32>
    %cst_29 = stablehlo.constant dense<2.04891862E-7> : tensor<f32>
    %101 = stablehlo.broadcast_in_dim %cst_29, dims = [] : (tensor<f32>) -> tensor<6x140xf32>
    %102 = stablehlo.add %100, %101 : tensor<6x140xf32>
    %103 = stablehlo.multiply %87, %102 : tensor<6x140xf32>
    %104 = stablehlo.subtract %103, %98 : tensor<6x140xf32>
    %cst_30 = stablehlo.constant dense<2.89137051E-6> : tensor<f32>
    %105 = stablehlo.broadcast_in_dim %cst_30, dims = [] : (tensor<f32>) -> tensor<6x140xf32>
    %106 = stablehlo.add %104, %105 : tensor<6x140xf32>
    %107 = stablehlo.multiply %87, %106 : tensor<6x140xf32>
    %108 = stablehlo.subtract %107, %102 : tensor<6x140xf32>
    %cst_31 = stablehlo.constant dense<6.88975852E-5> : tensor<f32>
    %109 = stablehlo.broadcast_in_dim %cst_31, dims = [] : (tensor<f32>) -> tensor<6x140xf32>
    %110 = stablehlo.add %108, %109 : tensor<6x140xf32>
    %111 = stablehlo.multiply %87, %110 : tensor<6x140xf32>
    %112 = stablehlo.subtract %111, %106 : tensor<6x140xf32>
    %cst_32 = stablehlo.constant dense<0.00336911646> : tensor<f32>
    %113 = stablehlo.broadcast_in_dim %cst_32, dims = [] : (tensor<f32>) -> tensor<6x140xf32>
    %114 = stablehlo.add %112, %113 : tensor<6x140xf32>
    %115 = stablehlo.multiply %87, %114 : tensor<6x140xf32>
    %116 = stablehlo.subtract %115, %110 : tensor<6x140xf32>
    %cst_33 = stablehlo.constant dense<0.804490387> : tensor<f32>
    %117 = stablehlo.broadcast_in_dim %cst_33, dims = [] : (tensor<f32>) -> tensor<6x140xf32>
    %118 = stablehlo.add %116, %117 : tensor<6x140xf32>
    %119 = stablehlo.subtract %118, %110 : tensor<6x140xf32>
    %cst_34 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %120 = stablehlo.broadcast_in_dim %cst_34, dims = [] : (tensor<f32>) -> tensor<6x140xf32>
    %121 = stablehlo.multiply %120, %119 : tensor<6x140xf32>
    %122 = stablehlo.sqrt %2 : tensor<6x140xf32>
    %123 = stablehlo.divide %121, %122 : tensor<6x140xf32>
    %cst_35 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %124 = stablehlo.broadcast_in_dim %cst_35, dims = [] : (tensor<f32>) -> tensor<6x140xf32>
    %125 = stablehlo.compare LE, %2, %124, FLOAT : (tensor<6x140xf32>, tensor<6x140xf32>) -> tensor<6x140xi1>
    %126 = stablehlo.select %125, %85, %123 : tensor<6x140xi1>, tensor<6x140xf32>
    %127 = stablehlo.negate %arg0 : tensor<6x140xf32>
    %128 = stablehlo.exponential %127 : tensor<6x140xf32>
    %cst_36 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %129 = stablehlo.broadcast_in_dim %cst_36, dims = [] : (tensor<f32>) -> tensor<6x140xf32>
    %130 = stablehlo.add %129, %128 : tensor<6x140xf32>
    %cst_37 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %131 = stablehlo.broadcast_in_dim %cst_37, dims = [] : (tensor<f32>) -> tensor<6x140xf32>
    %132 = stablehlo.divide %131, %130 : tensor<6x140xf32>
    %133 = stablehlo.tan %arg0 : tensor<6x140xf32>
    %134 = chlo.asinh %arg1 : tensor<6x140xf32> -> tensor<6x140xf32>
    %135 = stablehlo.compare NE, %arg0, %arg0, FLOAT : (tensor<6x140xf32>, tensor<6x140xf32>) -> tensor<6x140xi1>
    %136 = stablehlo.compare NE, %arg1, %arg1, FLOAT : (tensor<6x140xf32>, tensor<6x140xf32>) -> tensor<6x140xi1>
    %137 = stablehlo.or %135, %136 : tensor<6x140xi1>
    %cst_38 = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %138 = stablehlo.broadcast_in_dim %cst_38, dims = [] : (tensor<f32>) -> tensor<6x140xf32>
    %139 = stablehlo.compare EQ, %arg1, %138, FLOAT : (tensor<6x140xf32>, tensor<6x140xf32>) -> tensor<6x140xi1>
    %cst_39 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %140 = stablehlo.broadcast_in_dim %cst_39, dims = [] : (tensor<f32>) -> tensor<6x140xf32>
    %141 = stablehlo.compare EQ, %arg0, %140, FLOAT : (tensor<6x140xf32>, tensor<6x140xf32>) -> tensor<6x140xi1>
    %cst_40 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %142 = stablehlo.broadcast_in_dim %cst_40, dims = [] : (tensor<f32>) -> tensor<6x140xf32>
    %143 = stablehlo.compare EQ, %arg1, %142, FLOAT : (tensor<6x140xf32>, tensor<6x140xf32>) -> tensor<6x140xi1>
    %cst_41 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %144 = stablehlo.broadcast_in_dim %cst_41, dims = [] : (tensor<f32>) -> tensor<6x140xf32>
    %145 = stablehlo.compare LT, %arg1, %144, FLOAT : (tensor<6x140xf32>, tensor<6x140xf32>) -> tensor<6x140xi1>
    %cst_42 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %146 = stablehlo.broadcast_in_dim %cst_42, dims = [] : (tensor<f32>) -> tensor<6x140xf32>
    %147 = stablehlo.compare LT, %arg0, %146, FLOAT : (tensor<6x140xf32>, tensor<6x140xf32>) -> tensor<6x140xi1>
    %148 = stablehlo.and %141, %143 : tensor<6x140xi1>
    %149 = stablehlo.or %145, %147 : tensor<6x140xi1>
    %150 = stablehlo.or %149, %148 : tensor<6x140xi1>
    %151 = stablehlo.or %150, %137 : tensor<6x140xi1>
    %cst_43 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %152 = stablehlo.broadcast_in_dim %cst_43, dims = [] : (tensor<f32>) -> tensor<6x140xf32>
    %153 = stablehlo.compare GE, %arg1, %152, FLOAT : (tensor<6x140xf32>, tensor<6x140xf32>) -> tensor<6x140xi1>
    %154 = stablehlo.compare GT, %arg1, %arg0, FLOAT : (tensor<6x140xf32>, tensor<6x140xf32>) -> tensor<6x140xi1>
    %155 = stablehlo.and %153, %154 : tensor<6x140xi1>
    %156 = stablehlo.log %arg1 : tensor<6x140xf32>
    %157 = stablehlo.multiply %arg0, %156 : tensor<6x140xf32>
    %158 = stablehlo.subtract %157, %arg1 : tensor<6x140xf32>
    %159 = chlo.lgamma %arg0 : tensor<6x140xf32> -> tensor<6x140xf32>
    %160 = stablehlo.subtract %158, %159 : tensor<6x140xf32>
    %cst_44 = stablehlo.constant dense<3.40282347E+38> : tensor<f32>
    %161 = stablehlo.log %cst_44 : tensor<f32>
    %162 = stablehlo.negate %161 : tensor<f32>
    %163 = stablehlo.broadcast_in_dim %162, dims = [] : (tensor<f32>) -> tensor<6x140xf32>
    %164 = stablehlo.compare LT, %160, %163, FLOAT : (tensor<6x140xf32>, tensor<6x140xf32>) -> tensor<6x140xi1>
    %165 = stablehlo.exponential %160 : tensor<6x140xf32>
    %166 = stablehlo.or %143, %151 : tensor<6x140xi1>
    %167 = stablehlo.or %166, %164 : tensor<6x140xi1>
    %168 = stablehlo.or %167, %139 : tensor<6x140xi1>
    %169 = stablehlo.not %168 : tensor<6x140xi1>
    %170 = stablehlo.and %169, %155 : tensor<6x140xi1>
    %cst_45 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %171 = stablehlo.broadcast_in_dim %cst_45, dims = [] : (tensor<f32>) -> tensor<6x140xf32>
    %172 = stablehlo.subtract %171, %arg0 : tensor<6x140xf32>
    %173 = stablehlo.add %arg1, %172 : tensor<6x140xf32>
    %cst_46 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %174 = stablehlo.broadcast_in_dim %cst_46, dims = [] : (tensor<f32>) -> tensor<6x140xf32>
    %175 = stablehlo.add %173, %174 : tensor<6x140xf32>
    %cst_47 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %176 = stablehlo.broadcast_in_dim %cst_47, dims = [] : (tensor<f32>) -> tensor<6x140xf32>
    %cst_48 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %177 = stablehlo.broadcast_in_dim %cst_48, dims = [] : (tensor<f32>) -> tensor<6x140xf32>
    %178 = stablehlo.add %arg1, %177 : tensor<6x140xf32>
    %179 = stablehlo.multiply %175, %arg1 : tensor<6x140xf32>
    %180 = stablehlo.divide %178, %179 : tensor<6x140xf32>
    %cst_49 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %181 = stablehlo.broadcast_in_dim %cst_49, dims = [] : (tensor<f32>) -> tensor<6x140xf32>
    %cst_50 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %182 = stablehlo.broadcast_in_dim %cst_50, dims = [] : (tensor<f32>) -> tensor<6x140xf32>
    %cst_51 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %183 = stablehlo.broadcast_in_dim %cst_51, dims = [] : (tensor<f32>) -> tensor<6x140xf32>
    %cst_52 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %184 = stablehlo.broadcast_in_dim %cst_52, dims = [] : (tensor<f32>) -> tensor<6x140xf32>
    %185 = stablehlo.negate %arg1 : tensor<6x140xf32>
    %186 = stablehlo.multiply %180, %185 : tensor<6x140xf32>
    %187 = stablehlo.subtract %184, %186 : tensor<6x140xf32>
    %188 = stablehlo.divide %187, %179 : tensor<6x140xf32>
    %cst_53 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %189:15 = stablehlo.while(%iterArg = %170, %iterArg_62 = %180, %iterArg_63 = %181, %iterArg_64 = %172, %iterArg_65 = %175, %iterArg_66 = %cst_53, %iterArg_67 = %178, %iterArg_68 = %179, %iterArg_69 = %176, %iterArg_70 = %arg1, %iterArg_71 = %182, %iterArg_72 = %183, %iterArg_73 = %184, %iterArg_74 = %185, %iterArg_75 = %188) : tensor<6x140xi1>, tensor<6x140xf32>, tensor<6x140xf32>, tensor<6x140xf32>, tensor<6x140xf32>, tensor<f32>, tensor<6x140xf32>, tensor<6x140xf32>, tensor<6x140xf32>, tensor<6x140xf32>, tensor<6x140xf32>, tensor<6x140xf32>, tensor<6x140xf32>, tensor<6x140xf32>, tensor<6x140xf32>
    cond {
      %cst_76 = stablehlo.constant dense<2.000000e+03> : tensor<f32>
      %209 = stablehlo.compare LT, %iterArg_66, %cst_76, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %c = stablehlo.constant dense<false> : tensor<i1>
      %210 = stablehlo.reduce(%iterArg init: %c) applies stablehlo.or across dimensions = [0, 1] : (tensor<6x140xi1>, tensor<i1>) -> tensor<i1>
      %211 = stablehlo.and %209, %210 : tensor<i1>
      stablehlo.return %211 : tensor<i1>
    } do {
      %cst_76 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %209 = stablehlo.add %iterArg_66, %cst_76 : tensor<f32>
      %cst_77 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %210 = stablehlo.broadcast_in_dim %cst_77, dims = [] : (tensor<f32>) -> tensor<6x140xf32>
      %211 = stablehlo.add %iterArg_64, %210 : tensor<6x140xf32>
      %cst_78 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
      %212 = stablehlo.broadcast_in_dim %cst_78, dims = [] : (tensor<f32>) -> tensor<6x140xf32>
      %213 = stablehlo.add %iterArg_65, %212 : tensor<6x140xf32>
      %214 = stablehlo.broadcast_in_dim %209, dims = [] : (tensor<f32>) -> tensor<6x140xf32>
      %215 = stablehlo.multiply %211, %214 : tensor<6x140xf32>
      %216 = stablehlo.multiply %iterArg_67, %213 : tensor<6x140xf32>
      %217 = stablehlo.multiply %iterArg_69, %215 : tensor<6x140xf32>
      %218 = stablehlo.subtract %216, %217 : tensor<6x140xf32>
      %219 = stablehlo.multiply %iterArg_68, %213 : tensor<6x140xf32>
      %220 = stablehlo.multiply %iterArg_70, %215 : tensor<6x140xf32>
      %221 = stablehlo.subtract %219, %220 : tensor<6x140xf32>
      %cst_79 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %222 = stablehlo.broadcast_in_dim %cst_79, dims = [] : (tensor<f32>) -> tensor<6x140xf32>
      %223 = stablehlo.compare NE, %221, %222, FLOAT : (tensor<6x140xf32>, tensor<6x140xf32>) -> tensor<6x140xi1>
      %224 = stablehlo.divide %218, %221 : tensor<6x140xf32>
      %225 = stablehlo.subtract %iterArg_62, %224 : tensor<6x140xf32>
      %226 = stablehlo.divide %225, %224 : tensor<6x140xf32>
      %227 = stablehlo.abs %226 : tensor<6x140xf32>
      %cst_80 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %228 = stablehlo.broadcast_in_dim %cst_80, dims = [] : (tensor<f32>) -> tensor<6x140xf32>
      %229 = stablehlo.select %223, %227, %228 : tensor<6x140xi1>, tensor<6x140xf32>
      %230 = stablehlo.select %223, %224, %iterArg_62 : tensor<6x140xi1>, tensor<6x140xf32>
      %231 = stablehlo.multiply %iterArg_73, %213 : tensor<6x140xf32>
      %232 = stablehlo.subtract %231, %iterArg_67 : tensor<6x140xf32>
      %233 = stablehlo.multiply %iterArg_71, %215 : tensor<6x140xf32>
      %234 = stablehlo.subtract %232, %233 : tensor<6x140xf32>
      %235 = stablehlo.broadcast_in_dim %209, dims = [] : (tensor<f32>) -> tensor<6x140xf32>
      %236 = stablehlo.multiply %iterArg_69, %235 : tensor<6x140xf32>
      %237 = stablehlo.add %234, %236 : tensor<6x140xf32>
      %238 = stablehlo.multiply %iterArg_74, %213 : tensor<6x140xf32>
      %239 = stablehlo.subtract %238, %iterArg_68 : tensor<6x140xf32>
      %240 = stablehlo.multiply %iterArg_72, %215 : tensor<6x140xf32>
      %241 = stablehlo.subtract %239, %240 : tensor<6x140xf32>
      %242 = stablehlo.broadcast_in_dim %209, dims = [] : (tensor<f32>) -> tensor<6x140xf32>
      %243 = stablehlo.multiply %iterArg_70, %242 : tensor<6x140xf32>
      %244 = stablehlo.add %241, %243 : tensor<6x140xf32>
      %245 = stablehlo.multiply %230, %244 : tensor<6x140xf32>
      %246 = stablehlo.subtract %237, %245 : tensor<6x140xf32>
      %247 = stablehlo.divide %246, %221 : tensor<6x140xf32>
      %248 = stablehlo.select %223, %247, %iterArg_75 : tensor<6x140xi1>, tensor<6x140xf32>
      %249 = stablehlo.subtract %248, %iterArg_75 : tensor<6x140xf32>
      %250 = stablehlo.abs %249 : tensor<6x140xf32>
      %cst_81 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %251 = stablehlo.broadcast_in_dim %cst_81, dims = [] : (tensor<f32>) -> tensor<6x140xf32>
      %252 = stablehlo.select %223, %250, %251 : tensor<6x140xi1>, tensor<6x140xf32>
      %253 = stablehlo.abs %218 : tensor<6x140xf32>
      %cst_82 = stablehlo.constant dense<1.1920929E-7> : tensor<f32>
      %cst_83 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %254 = stablehlo.broadcast_in_dim %cst_83, dims = [] : (tensor<f32>) -> tensor<f32>
      %255 = stablehlo.divide %254, %cst_82 : tensor<f32>
      %256 = stablehlo.broadcast_in_dim %255, dims = [] : (tensor<f32>) -> tensor<6x140xf32>
      %257 = stablehlo.compare GT, %253, %256, FLOAT : (tensor<6x140xf32>, tensor<6x140xf32>) -> tensor<6x140xi1>
      %cst_84 = stablehlo.constant dense<1.1920929E-7> : tensor<f32>
      %258 = stablehlo.broadcast_in_dim %cst_84, dims = [] : (tensor<f32>) -> tensor<6x140xf32>
      %259 = stablehlo.multiply %iterArg_67, %258 : tensor<6x140xf32>
      %260 = stablehlo.select %257, %259, %iterArg_67 : tensor<6x140xi1>, tensor<6x140xf32>
      %cst_85 = stablehlo.constant dense<1.1920929E-7> : tensor<f32>
      %261 = stablehlo.broadcast_in_dim %cst_85, dims = [] : (tensor<f32>) -> tensor<6x140xf32>
      %262 = stablehlo.multiply %218, %261 : tensor<6x140xf32>
      %263 = stablehlo.select %257, %262, %218 : tensor<6x140xi1>, tensor<6x140xf32>
      %cst_86 = stablehlo.constant dense<1.1920929E-7> : tensor<f32>
      %264 = stablehlo.broadcast_in_dim %cst_86, dims = [] : (tensor<f32>) -> tensor<6x140xf32>
      %265 = stablehlo.multiply %iterArg_68, %264 : tensor<6x140xf32>
      %266 = stablehlo.select %257, %265, %iterArg_68 : tensor<6x140xi1>, tensor<6x140xf32>
      %cst_87 = stablehlo.constant dense<1.1920929E-7> : tensor<f32>
      %267 = stablehlo.broadcast_in_dim %cst_87, dims = [] : (tensor<f32>) -> tensor<6x140xf32>
      %268 = stablehlo.multiply %221, %267 : tensor<6x140xf32>
      %269 = stablehlo.select %257, %268, %221 : tensor<6x140xi1>, tensor<6x140xf32>
      %cst_88 = stablehlo.constant dense<1.1920929E-7> : tensor<f32>
      %270 = stablehlo.broadcast_in_dim %cst_88, dims = [] : (tensor<f32>) -> tensor<6x140xf32>
      %271 = stablehlo.multiply %iterArg_73, %270 : tensor<6x140xf32>
      %272 = stablehlo.select %257, %271, %iterArg_73 : tensor<6x140xi1>, tensor<6x140xf32>
      %cst_89 = stablehlo.constant dense<1.1920929E-7> : tensor<f32>
      %273 = stablehlo.broadcast_in_dim %cst_89, dims = [] : (tensor<f32>) -> tensor<6x140xf32>
      %274 = stablehlo.multiply %iterArg_74, %273 : tensor<6x140xf32>
      %275 = stablehlo.select %257, %274, %iterArg_74 : tensor<6x140xi1>, tensor<6x140xf32>
      %cst_90 = stablehlo.constant dense<1.1920929E-7> : tensor<f32>
      %276 = stablehlo.broadcast_in_dim %cst_90, dims = [] : (tensor<f32>) -> tensor<6x140xf32>
      %277 = stablehlo.multiply %237, %276 : tensor<6x140xf32>
      %278 = stablehlo.select %257, %277, %237 : tensor<6x140xi1>, tensor<6x140xf32>
      %cst_91 = stablehlo.constant dense<1.1920929E-7> : tensor<f32>
      %279 = stablehlo.broadcast_in_dim %cst_91, dims = [] : (tensor<f32>) -> tensor<6x140xf32>
      %280 = stablehlo.multiply %244, %279 : tensor<6x140xf32>
      %281 = stablehlo.select %257, %280, %244 : tensor<6x140xi1>, tensor<6x140xf32>
      %cst_92 = stablehlo.constant dense<1.1920929E-7> : tensor<f32>
      %282 = stablehlo.broadcast_in_dim %cst_92, dims = [] : (tensor<f32>) -> tensor<6x140xf32>
      %283 = stablehlo.compare GT, %229, %282, FLOAT : (tensor<6x140xf32>, tensor<6x140xf32>) -> tensor<6x140xi1>
      %284 = stablehlo.and %iterArg, %283 : tensor<6x140xi1>
      %285 = stablehlo.select %iterArg, %230, %iterArg_62 : tensor<6x140xi1>, tensor<6x140xf32>
      %286 = stablehlo.select %iterArg, %229, %iterArg_63 : tensor<6x140xi1>, tensor<6x140xf32>
      %287 = stablehlo.select %iterArg, %211, %iterArg_64 : tensor<6x140xi1>, tensor<6x140xf32>
      %288 = stablehlo.select %iterArg, %213, %iterArg_65 : tensor<6x140xi1>, tensor<6x140xf32>
      %289 = stablehlo.select %iterArg, %263, %iterArg_67 : tensor<6x140xi1>, tensor<6x140xf32>
      %290 = stablehlo.select %iterArg, %269, %iterArg_68 : tensor<6x140xi1>, tensor<6x140xf32>
      %291 = stablehlo.select %iterArg, %260, %iterArg_69 : tensor<6x140xi1>, tensor<6x140xf32>
      %292 = stablehlo.select %iterArg, %266, %iterArg_70 : tensor<6x140xi1>, tensor<6x140xf32>
      %293 = stablehlo.select %iterArg, %272, %iterArg_71 : tensor<6x140xi1>, tensor<6x140xf32>
      %294 = stablehlo.select %iterArg, %275, %iterArg_72 : tensor<6x140xi1>, tensor<6x140xf32>
      %295 = stablehlo.select %iterArg, %278, %iterArg_73 : tensor<6x140xi1>, tensor<6x140xf32>
      %296 = stablehlo.select %iterArg, %281, %iterArg_74 : tensor<6x140xi1>, tensor<6x140xf32>
      %297 = stablehlo.select %iterArg, %248, %iterArg_75 : tensor<6x140xi1>, tensor<6x140xf32>
      stablehlo.return %284, %285, %286, %287, %288, %209, %289, %290, %291, %292, %293, %294, %295, %296, %297 : tensor<6x140xi1>, tensor<6x140xf32>, tensor<6x140xf32>, tensor<6x140xf32>, tensor<6x140xf32>, tensor<f32>, tensor<6x140xf32>, tensor<6x140xf32>, tensor<6x140xf32>, tensor<6x140xf32>, tensor<6x140xf32>, tensor<6x140xf32>, tensor<6x140xf32>, tensor<6x140xf32>, tensor<6x140xf32>
    }
    %190 = stablehlo.multiply %189#1, %165 : tensor<6x140xf32>
    %cst_54 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %191 = stablehlo.broadcast_in_dim %cst_54, dims = [] : (tensor<f32>) -> tensor<6x140xf32>
    %192 = stablehlo.subtract %191, %190 : tensor<6x140xf32>
    %193 = stablehlo.not %155 : tensor<6x140xi1>
    %194 = stablehlo.and %169, %193 : tensor<6x140xi1>
    %cst_55 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %195 = stablehlo.broadcast_in_dim %cst_55, dims = [] : (tensor<f32>) -> tensor<6x140xf32>
    %cst_56 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %196 = stablehlo.broadcast_in_dim %cst_56, dims = [] : (tensor<f32>) -> tensor<6x140xf32>
    %cst_57 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %197 = stablehlo.broadcast_in_dim %cst_57, dims = [] : (tensor<f32>) -> tensor<6x140xf32>
    %cst_58 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %198 = stablehlo.broadcast_in_dim %cst_58, dims = [] : (tensor<f32>) -> tensor<6x140xf32>
    %199:7 = stablehlo.while(%iterArg = %194, %iterArg_62 = %arg0, %iterArg_63 = %195, %iterArg_64 = %196, %iterArg_65 = %arg1, %iterArg_66 = %197, %iterArg_67 = %198) : tensor<6x140xi1>, tensor<6x140xf32>, tensor<6x140xf32>, tensor<6x140xf32>, tensor<6x140xf32>, tensor<6x140xf32>, tensor<6x140xf32>
    cond {
      %c = stablehlo.constant dense<false> : tensor<i1>
      %209 = stablehlo.reduce(%iterArg init: %c) applies stablehlo.or across dimensions = [0, 1] : (tensor<6x140xi1>, tensor<i1>) -> tensor<i1>
      stablehlo.return %209 : tensor<i1>
    } do {
      %cst_68 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %209 = stablehlo.broadcast_in_dim %cst_68, dims = [] : (tensor<f32>) -> tensor<6x140xf32>
      %210 = stablehlo.add %iterArg_62, %209 : tensor<6x140xf32>
      %211 = stablehlo.divide %iterArg_65, %210 : tensor<6x140xf32>
      %212 = stablehlo.multiply %iterArg_66, %211 : tensor<6x140xf32>
      %213 = stablehlo.multiply %iterArg_63, %iterArg_65 : tensor<6x140xf32>
      %214 = stablehlo.multiply %210, %210 : tensor<6x140xf32>
      %215 = stablehlo.divide %213, %214 : tensor<6x140xf32>
      %216 = stablehlo.subtract %212, %215 : tensor<6x140xf32>
      %217 = stablehlo.add %iterArg_67, %216 : tensor<6x140xf32>
      %218 = stablehlo.divide %iterArg_65, %210 : tensor<6x140xf32>
      %219 = stablehlo.multiply %iterArg_63, %218 : tensor<6x140xf32>
      %220 = stablehlo.add %iterArg_64, %219 : tensor<6x140xf32>
      %221 = stablehlo.divide %219, %220 : tensor<6x140xf32>
      %cst_69 = stablehlo.constant dense<1.1920929E-7> : tensor<f32>
      %222 = stablehlo.broadcast_in_dim %cst_69, dims = [] : (tensor<f32>) -> tensor<6x140xf32>
      %223 = stablehlo.compare GT, %221, %222, FLOAT : (tensor<6x140xf32>, tensor<6x140xf32>) -> tensor<6x140xi1>
      %224 = stablehlo.and %iterArg, %223 : tensor<6x140xi1>
      %225 = stablehlo.select %iterArg, %210, %iterArg_62 : tensor<6x140xi1>, tensor<6x140xf32>
      %226 = stablehlo.select %iterArg, %219, %iterArg_63 : tensor<6x140xi1>, tensor<6x140xf32>
      %227 = stablehlo.select %iterArg, %220, %iterArg_64 : tensor<6x140xi1>, tensor<6x140xf32>
      %228 = stablehlo.select %iterArg, %iterArg_65, %iterArg_65 : tensor<6x140xi1>, tensor<6x140xf32>
      %229 = stablehlo.select %iterArg, %216, %iterArg_66 : tensor<6x140xi1>, tensor<6x140xf32>
      %230 = stablehlo.select %iterArg, %217, %iterArg_67 : tensor<6x140xi1>, tensor<6x140xf32>
      stablehlo.return %224, %225, %226, %227, %228, %229, %230 : tensor<6x140xi1>, tensor<6x140xf32>, tensor<6x140xf32>, tensor<6x140xf32>, tensor<6x140xf32>, tensor<6x140xf32>, tensor<6x140xf32>
    }
    %200 = stablehlo.multiply %199#3, %165 : tensor<6x140xf32>
    %201 = stablehlo.divide %200, %arg0 : tensor<6x140xf32>
    %202 = stablehlo.select %155, %192, %201 : tensor<6x140xi1>, tensor<6x140xf32>
    %cst_59 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %203 = stablehlo.broadcast_in_dim %cst_59, dims = [] : (tensor<f32>) -> tensor<6x140xf32>
    %204 = stablehlo.select %143, %203, %202 : tensor<6x140xi1>, tensor<6x140xf32>
    %cst_60 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %205 = stablehlo.broadcast_in_dim %cst_60, dims = [] : (tensor<f32>) -> tensor<6x140xf32>
    %206 = stablehlo.select %139, %205, %204 : tensor<6x140xi1>, tensor<6x140xf32>
    %cst_61 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %207 = stablehlo.broadcast_in_dim %cst_61, dims = [] : (tensor<f32>) -> tensor<6x140xf32>
    %208 = stablehlo.select %151, %207, %206 : tensor<6x140xi1>, tensor<6x140xf32>
    return %0, %1, %126, %132, %133, %134, %208 : tensor<6x140xf32>, tensor<6x140xf32>, tensor<6x140xf32>, tensor<6x140xf32>, tensor<6x140xf32>, tensor<6x140xf32>, tensor<6x140xf32>
  }
}
