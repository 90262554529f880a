module @jit_slices_in_loop attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @empty_mesh = <[]> {stablehlo.mesh = {axes = []}}
  func.func public @main(%arg0: tensor<9x256xi8> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}, %arg1: tensor<6x2xi32> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}) -> (tensor<9x256xi8> {jax.result_info = "result[0]"}, tensor<6xi32> {jax.result_info = "result[1]"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<6xi32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %1:5 = stablehlo.while(%iterArg = %arg1, %iterArg_2 = %c_1, %iterArg_3 = %c_0, %iterArg_4 = %arg0, %iterArg_5 = %0) : tensor<6x2xi32>, tensor<i32>, tensor<i32>, tensor<9x256xi8>, tensor<6xi32>
    cond {
      %c_6 = stablehlo.constant dense<6> : tensor<i32>
      %2 = stablehlo.compare LT, %iterArg_2, %c_6, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %2 : tensor<i1>
    } do {
      %c_6 = stablehlo.constant dense<1> : tensor<i32>
      %2 = stablehlo.add %iterArg_3, %c_6 : tensor<i32>
      %3 = stablehlo.convert %iterArg_3 : tensor<i32>
      %c_7 = stablehlo.constant dense<0> : tensor<i32>
      %4 = stablehlo.compare LT, %3, %c_7, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_8 = stablehlo.constant dense<6> : tensor<i32>
      %5 = stablehlo.add %3, %c_8 : tensor<i32>
      %6 = stablehlo.select %4, %5, %3 : tensor<i1>, tensor<i32>
      %c_9 = stablehlo.constant dense<0> : tensor<i32>
      %c_10 = stablehlo.constant dense<0> : tensor<i32>
      %7 = stablehlo.compare LT, %c_9, %c_10, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_11 = stablehlo.constant dense<0> : tensor<i32>
      %c_12 = stablehlo.constant dense<2> : tensor<i32>
      %8 = stablehlo.add %c_11, %c_12 : tensor<i32>
      %c_13 = stablehlo.constant dense<0> : tensor<i32>
      %9 = stablehlo.select %7, %8, %c_13 : tensor<i1>, tensor<i32>
      %10 = stablehlo.dynamic_slice %iterArg, %6, %9, sizes = [1, 1] : (tensor<6x2xi32>, tensor<i32>, tensor<i32>) -> tensor<1x1xi32>
      %11 = stablehlo.reshape %10 : (tensor<1x1xi32>) -> tensor<i32>
      %12 = stablehlo.convert %iterArg_3 : tensor<i32>
      %c_14 = stablehlo.constant dense<0> : tensor<i32>
      %13 = stablehlo.compare LT, %12, %c_14, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_15 = stablehlo.constant dense<6> : tensor<i32>
      %14 = stablehlo.add %12, %c_15 : tensor<i32>
      %15 = stablehlo.select %13, %14, %12 : tensor<i1>, tensor<i32>
      %c_16 = stablehlo.constant dense<1> : tensor<i32>
      %c_17 = stablehlo.constant dense<0> : tensor<i32>
      %16 = stablehlo.compare LT, %c_16, %c_17, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_18 = stablehlo.constant dense<1> : tensor<i32>
      %c_19 = stablehlo.constant dense<2> : tensor<i32>
      %17 = stablehlo.add %c_18, %c_19 : tensor<i32>
      %c_20 = stablehlo.constant dense<1> : tensor<i32>
      %18 = stablehlo.select %16, %17, %c_20 : tensor<i1>, tensor<i32>
      %19 = stablehlo.dynamic_slice %iterArg, %15, %18, sizes = [1, 1] : (tensor<6x2xi32>, tensor<i32>, tensor<i32>) -> tensor<1x1xi32>
      %20 = stablehlo.reshape %19 : (tensor<1x1xi32>) -> tensor<i32>
      %c_21 = stablehlo.constant dense<20> : tensor<i32>
      %21 = stablehlo.multiply %20, %c_21 : tensor<i32>
      %c_22 = stablehlo.constant dense<0> : tensor<i32>
      %22 = stablehlo.compare LT, %11, %c_22, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_23 = stablehlo.constant dense<9> : tensor<i32>
      %23 = stablehlo.add %11, %c_23 : tensor<i32>
      %24 = stablehlo.select %22, %23, %11 : tensor<i1>, tensor<i32>
      %c_24 = stablehlo.constant dense<0> : tensor<i32>
      %25 = stablehlo.compare LT, %21, %c_24, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_25 = stablehlo.constant dense<256> : tensor<i32>
      %26 = stablehlo.add %21, %c_25 : tensor<i32>
      %27 = stablehlo.select %25, %26, %21 : tensor<i1>, tensor<i32>
      %28 = stablehlo.dynamic_slice %iterArg_4, %24, %27, sizes = [3, 100] : (tensor<9x256xi8>, tensor<i32>, tensor<i32>) -> tensor<3x100xi8>
      %29 = stablehlo.reverse %28, dims = [0] : tensor<3x100xi8>
      %c_26 = stablehlo.constant dense<1> : tensor<i8>
      %30 = stablehlo.broadcast_in_dim %c_26, dims = [] : (tensor<i8>) -> tensor<3x100xi8>
      %31 = stablehlo.add %29, %30 : tensor<3x100xi8>
      %32 = stablehlo.convert %iterArg_3 : tensor<i32>
      %c_27 = stablehlo.constant dense<0> : tensor<i32>
      %33 = stablehlo.compare LT, %32, %c_27, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_28 = stablehlo.constant dense<6> : tensor<i32>
      %34 = stablehlo.add %32, %c_28 : tensor<i32>
      %35 = stablehlo.select %33, %34, %32 : tensor<i1>, tensor<i32>
      %c_29 = stablehlo.constant dense<1> : tensor<i32>
      %c_30 = stablehlo.constant dense<0> : tensor<i32>
      %36 = stablehlo.compare LT, %c_29, %c_30, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_31 = stablehlo.constant dense<1> : tensor<i32>
      %c_32 = stablehlo.constant dense<2> : tensor<i32>
      %37 = stablehlo.add %c_31, %c_32 : tensor<i32>
      %c_33 = stablehlo.constant dense<1> : tensor<i32>
      %38 = stablehlo.select %36, %37, %c_33 : tensor<i1>, tensor<i32>
      %39 = stablehlo.dynamic_slice %iterArg, %35, %38, sizes = [1, 1] : (tensor<6x2xi32>, tensor<i32>, tensor<i32>) -> tensor<1x1xi32>
      %40 = stablehlo.reshape %39 : (tensor<1x1xi32>) -> tensor<i32>
      %41 = stablehlo.convert %iterArg_3 : tensor<i32>
      %c_34 = stablehlo.constant dense<0> : tensor<i32>
      %42 = stablehlo.compare LT, %41, %c_34, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_35 = stablehlo.constant dense<6> : tensor<i32>
      %43 = stablehlo.add %41, %c_35 : tensor<i32>
      %44 = stablehlo.select %42, %43, %41 : tensor<i1>, tensor<i32>
      %c_36 = stablehlo.constant dense<0> : tensor<i32>
      %c_37 = stablehlo.constant dense<0> : tensor<i32>
      %45 = stablehlo.compare LT, %c_36, %c_37, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_38 = stablehlo.constant dense<0> : tensor<i32>
      %c_39 = stablehlo.constant dense<2> : tensor<i32>
      %46 = stablehlo.add %c_38, %c_39 : tensor<i32>
      %c_40 = stablehlo.constant dense<0> : tensor<i32>
      %47 = stablehlo.select %45, %46, %c_40 : tensor<i1>, tensor<i32>
      %48 = stablehlo.dynamic_slice %iterArg, %44, %47, sizes = [1, 1] : (tensor<6x2xi32>, tensor<i32>, tensor<i32>) -> tensor<1x1xi32>
      %49 = stablehlo.reshape %48 : (tensor<1x1xi32>) -> tensor<i32>
      %c_41 = stablehlo.constant dense<20> : tensor<i32>
      %50 = stablehlo.multiply %49, %c_41 : tensor<i32>
      %c_42 = stablehlo.constant dense<0> : tensor<i32>
      %51 = stablehlo.compare LT, %40, %c_42, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_43 = stablehlo.constant dense<9> : tensor<i32>
      %52 = stablehlo.add %40, %c_43 : tensor<i32>
      %53 = stablehlo.select %51, %52, %40 : tensor<i1>, tensor<i32>
      %c_44 = stablehlo.constant dense<0> : tensor<i32>
      %54 = stablehlo.compare LT, %50, %c_44, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_45 = stablehlo.constant dense<256> : tensor<i32>
      %55 = stablehlo.add %50, %c_45 : tensor<i32>
      %56 = stablehlo.select %54, %55, %50 : tensor<i1>, tensor<i32>
      %57 = stablehlo.dynamic_update_slice %iterArg_4, %31, %53, %56 : (tensor<9x256xi8>, tensor<3x100xi8>, tensor<i32>, tensor<i32>) -> tensor<9x256xi8>
      %58 = stablehlo.convert %28 : (tensor<3x100xi8>) -> tensor<3x100xi32>
      %c_46 = stablehlo.constant dense<0> : tensor<i32>
      %59 = stablehlo.reduce(%58 init: %c_46) applies stablehlo.add across dimensions = [0, 1] : (tensor<3x100xi32>, tensor<i32>) -> tensor<i32>
      %60 = func.call @dynamic_update_index_in_dim(%iterArg_5, %59, %iterArg_3) : (tensor<6xi32>, tensor<i32>, tensor<i32>) -> tensor<6xi32>
      %c_47 = stablehlo.constant dense<1> : tensor<i32>
      %61 = stablehlo.add %iterArg_2, %c_47 : tensor<i32>
      stablehlo.return %iterArg, %61, %2, %57, %60 : tensor<6x2xi32>, tensor<i32>, tensor<i32>, tensor<9x256xi8>, tensor<6xi32>
    }
    return %1#3, %1#4 : tensor<9x256xi8>, tensor<6xi32>
  }
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<6xi32>, %arg1: tensor<i32>, %arg2: tensor<i32>) -> tensor<6xi32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.compare LT, %arg2, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %2 = stablehlo.convert %arg2 : tensor<i32>
    %c_0 = stablehlo.constant dense<6> : tensor<i32>
    %3 = stablehlo.add %2, %c_0 : tensor<i32>
    %4 = stablehlo.select %1, %3, %arg2 : tensor<i1>, tensor<i32>
    %5 = stablehlo.dynamic_update_slice %arg0, %0, %4 : (tensor<6xi32>, tensor<1xi32>, tensor<i32>) -> tensor<6xi32>
    return %5 : tensor<6xi32>
  }
}
