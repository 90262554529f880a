module @jit_associative_scan attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @empty_mesh = <[]> {stablehlo.mesh = {axes = []}}
  func.func public @main(%arg0: tensor<16x24xbf16> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}, %arg1: tensor<16x24xbf16> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}) -> (tensor<16x24xbf16> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<5.000000e-01> : tensor<bf16>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<bf16>) -> tensor<16x24xbf16>
    %1 = stablehlo.multiply %arg1, %0 : tensor<16x24xbf16>
    %2 = stablehlo.slice %1 [0:15:2, 0:24] : (tensor<16x24xbf16>) -> tensor<8x24xbf16>
    %3 = stablehlo.slice %arg0 [0:15:2, 0:24] : (tensor<16x24xbf16>) -> tensor<8x24xbf16>
    %4 = stablehlo.slice %1 [1:16:2, 0:24] : (tensor<16x24xbf16>) -> tensor<8x24xbf16>
    %5 = stablehlo.slice %arg0 [1:16:2, 0:24] : (tensor<16x24xbf16>) -> tensor<8x24xbf16>
    %6 = stablehlo.multiply %2, %4 : tensor<8x24xbf16>
    %7 = stablehlo.multiply %4, %3 : tensor<8x24xbf16>
    %8 = stablehlo.add %7, %5 : tensor<8x24xbf16>
    %9 = stablehlo.slice %6 [0:7:2, 0:24] : (tensor<8x24xbf16>) -> tensor<4x24xbf16>
    %10 = stablehlo.slice %8 [0:7:2, 0:24] : (tensor<8x24xbf16>) -> tensor<4x24xbf16>
    %11 = stablehlo.slice %6 [1:8:2, 0:24] : (tensor<8x24xbf16>) -> tensor<4x24xbf16>
    %12 = stablehlo.slice %8 [1:8:2, 0:24] : (tensor<8x24xbf16>) -> tensor<4x24xbf16>
    %13 = stablehlo.multiply %9, %11 : tensor<4x24xbf16>
    %14 = stablehlo.multiply %11, %10 : tensor<4x24xbf16>
    %15 = stablehlo.add %14, %12 : tensor<4x24xbf16>
    %16 = stablehlo.slice %13 [0:3:2, 0:24] : (tensor<4x24xbf16>) -> tensor<2x24xbf16>
    %17 = stablehlo.slice %15 [0:3:2, 0:24] : (tensor<4x24xbf16>) -> tensor<2x24xbf16>
    %18 = stablehlo.slice %13 [1:4:2, 0:24] : (tensor<4x24xbf16>) -> tensor<2x24xbf16>
    %19 = stablehlo.slice %15 [1:4:2, 0:24] : (tensor<4x24xbf16>) -> tensor<2x24xbf16>
    %20 = stablehlo.multiply %16, %18 : tensor<2x24xbf16>
    %21 = stablehlo.multiply %18, %17 : tensor<2x24xbf16>
    %22 = stablehlo.add %21, %19 : tensor<2x24xbf16>
    %23 = stablehlo.slice %22 [0:1:2, 0:24] : (tensor<2x24xbf16>) -> tensor<1x24xbf16>
    %24 = stablehlo.slice %20 [1:2:2, 0:24] : (tensor<2x24xbf16>) -> tensor<1x24xbf16>
    %25 = stablehlo.slice %22 [1:2:2, 0:24] : (tensor<2x24xbf16>) -> tensor<1x24xbf16>
    %26 = stablehlo.multiply %24, %23 : tensor<1x24xbf16>
    %27 = stablehlo.add %26, %25 : tensor<1x24xbf16>
    %28 = stablehlo.slice %27 [0:0, 0:24] : (tensor<1x24xbf16>) -> tensor<0x24xbf16>
    %29 = stablehlo.slice %20 [2:2:2, 0:24] : (tensor<2x24xbf16>) -> tensor<0x24xbf16>
    %30 = stablehlo.slice %22 [2:2:2, 0:24] : (tensor<2x24xbf16>) -> tensor<0x24xbf16>
    %31 = stablehlo.multiply %29, %28 : tensor<0x24xbf16>
    %32 = stablehlo.add %31, %30 : tensor<0x24xbf16>
    %33 = stablehlo.slice %22 [0:1, 0:24] : (tensor<2x24xbf16>) -> tensor<1x24xbf16>
    %34 = stablehlo.concatenate %33, %32, dim = 0 : (tensor<1x24xbf16>, tensor<0x24xbf16>) -> tensor<1x24xbf16>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %35 = stablehlo.pad %34, %cst_0, low = [0, 0], high = [1, 0], interior = [1, 0] : (tensor<1x24xbf16>, tensor<bf16>) -> tensor<2x24xbf16>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %36 = stablehlo.pad %27, %cst_1, low = [1, 0], high = [0, 0], interior = [1, 0] : (tensor<1x24xbf16>, tensor<bf16>) -> tensor<2x24xbf16>
    %37 = stablehlo.add %35, %36 : tensor<2x24xbf16>
    %38 = stablehlo.slice %37 [0:1, 0:24] : (tensor<2x24xbf16>) -> tensor<1x24xbf16>
    %39 = stablehlo.slice %13 [2:4:2, 0:24] : (tensor<4x24xbf16>) -> tensor<1x24xbf16>
    %40 = stablehlo.slice %15 [2:4:2, 0:24] : (tensor<4x24xbf16>) -> tensor<1x24xbf16>
    %41 = stablehlo.multiply %39, %38 : tensor<1x24xbf16>
    %42 = stablehlo.add %41, %40 : tensor<1x24xbf16>
    %43 = stablehlo.slice %15 [0:1, 0:24] : (tensor<4x24xbf16>) -> tensor<1x24xbf16>
    %44 = stablehlo.concatenate %43, %42, dim = 0 : (tensor<1x24xbf16>, tensor<1x24xbf16>) -> tensor<2x24xbf16>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %45 = stablehlo.pad %44, %cst_2, low = [0, 0], high = [1, 0], interior = [1, 0] : (tensor<2x24xbf16>, tensor<bf16>) -> tensor<4x24xbf16>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %46 = stablehlo.pad %37, %cst_3, low = [1, 0], high = [0, 0], interior = [1, 0] : (tensor<2x24xbf16>, tensor<bf16>) -> tensor<4x24xbf16>
    %47 = stablehlo.add %45, %46 : tensor<4x24xbf16>
    %48 = stablehlo.slice %47 [0:3, 0:24] : (tensor<4x24xbf16>) -> tensor<3x24xbf16>
    %49 = stablehlo.slice %6 [2:8:2, 0:24] : (tensor<8x24xbf16>) -> tensor<3x24xbf16>
    %50 = stablehlo.slice %8 [2:8:2, 0:24] : (tensor<8x24xbf16>) -> tensor<3x24xbf16>
    %51 = stablehlo.multiply %49, %48 : tensor<3x24xbf16>
    %52 = stablehlo.add %51, %50 : tensor<3x24xbf16>
    %53 = stablehlo.slice %8 [0:1, 0:24] : (tensor<8x24xbf16>) -> tensor<1x24xbf16>
    %54 = stablehlo.concatenate %53, %52, dim = 0 : (tensor<1x24xbf16>, tensor<3x24xbf16>) -> tensor<4x24xbf16>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %55 = stablehlo.pad %54, %cst_4, low = [0, 0], high = [1, 0], interior = [1, 0] : (tensor<4x24xbf16>, tensor<bf16>) -> tensor<8x24xbf16>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %56 = stablehlo.pad %47, %cst_5, low = [1, 0], high = [0, 0], interior = [1, 0] : (tensor<4x24xbf16>, tensor<bf16>) -> tensor<8x24xbf16>
    %57 = stablehlo.add %55, %56 : tensor<8x24xbf16>
    %58 = stablehlo.slice %57 [0:7, 0:24] : (tensor<8x24xbf16>) -> tensor<7x24xbf16>
    %59 = stablehlo.slice %1 [2:16:2, 0:24] : (tensor<16x24xbf16>) -> tensor<7x24xbf16>
    %60 = stablehlo.slice %arg0 [2:16:2, 0:24] : (tensor<16x24xbf16>) -> tensor<7x24xbf16>
    %61 = stablehlo.multiply %59, %58 : tensor<7x24xbf16>
    %62 = stablehlo.add %61, %60 : tensor<7x24xbf16>
    %63 = stablehlo.slice %arg0 [0:1, 0:24] : (tensor<16x24xbf16>) -> tensor<1x24xbf16>
    %64 = stablehlo.concatenate %63, %62, dim = 0 : (tensor<1x24xbf16>, tensor<7x24xbf16>) -> tensor<8x24xbf16>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %65 = stablehlo.pad %64, %cst_6, low = [0, 0], high = [1, 0], interior = [1, 0] : (tensor<8x24xbf16>, tensor<bf16>) -> tensor<16x24xbf16>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %66 = stablehlo.pad %57, %cst_7, low = [1, 0], high = [0, 0], interior = [1, 0] : (tensor<8x24xbf16>, tensor<bf16>) -> tensor<16x24xbf16>
    %67 = stablehlo.add %65, %66 : tensor<16x24xbf16>
    return %67 : tensor<16x24xbf16>
  }
}
