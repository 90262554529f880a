module @jit_complex_in_loop attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @empty_mesh = <[]> {stablehlo.mesh = {axes = []}}
  func.func public @main(%arg0: tensor<20x8xcomplex<f32>> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}, %arg1: tensor<20xcomplex<f32>> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}]>}) -> (tensor<8xcomplex<f32>> {jax.result_info = "result[0]"}, tensor<20x3xcomplex<f32>> {jax.result_info = "result[1]"}) {
    %0 = stablehlo.slice %arg1 [0:8] : (tensor<20xcomplex<f32>>) -> tensor<8xcomplex<f32>>
    %cst = stablehlo.constant dense<(0.000000e+00,0.000000e+00)> : tensor<complex<f32>>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<complex<f32>>) -> tensor<20x3xcomplex<f32>>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %2:4 = stablehlo.while(%iterArg = %arg0, %iterArg_0 = %c, %iterArg_1 = %0, %iterArg_2 = %1) : tensor<20x8xcomplex<f32>>, tensor<i32>, tensor<8xcomplex<f32>>, tensor<20x3xcomplex<f32>>
    cond {
      %c_3 = stablehlo.constant dense<20> : tensor<i32>
      %3 = stablehlo.compare LT, %iterArg_0, %c_3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %3 : tensor<i1>
    } do {
      %3 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_0) : (tensor<20x8xcomplex<f32>>, tensor<i32>) -> tensor<8xcomplex<f32>>
      %4:2 = func.call @closed_call(%iterArg_1, %3) : (tensor<8xcomplex<f32>>, tensor<8xcomplex<f32>>) -> (tensor<8xcomplex<f32>>, tensor<3xcomplex<f32>>)
      %5 = func.call @dynamic_update_index_in_dim(%iterArg_2, %4#1, %iterArg_0) : (tensor<20x3xcomplex<f32>>, tensor<3xcomplex<f32>>, tensor<i32>) -> tensor<20x3xcomplex<f32>>
      %c_3 = stablehlo.constant dense<1> : tensor<i32>
      %6 = stablehlo.add %iterArg_0, %c_3 : tensor<i32>
      stablehlo.return %iterArg, %6, %4#0, %5 : tensor<20x8xcomplex<f32>>, tensor<i32>, tensor<8xcomplex<f32>>, tensor<20x3xcomplex<f32>>
    }
    return %2#2, %2#3 : tensor<8xcomplex<f32>>, tensor<20x3xcomplex<f32>>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<20x8xcomplex<f32>>, %arg1: tensor<i32>) -> tensor<8xcomplex<f32>> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, sizes = [1, 8] : (tensor<20x8xcomplex<f32>>, tensor<i32>, tensor<i32>) -> tensor<1x8xcomplex<f32>>
    %1 = stablehlo.reshape %0 : (tensor<1x8xcomplex<f32>>) -> tensor<8xcomplex<f32>>
    return %1 : tensor<8xcomplex<f32>>
  }
  func.func private @closed_call(%arg0: tensor<8xcomplex<f32>>, %arg1: tensor<8xcomplex<f32>>) -> (tensor<8xcomplex<f32>>, tensor<3xcomplex<f32>>) {
    %cst = stablehlo.constant dense<(5.000000e-01,0.000000e+00)> : tensor<complex<f32>>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<complex<f32>>) -> tensor<8xcomplex<f32>>
    %1 = stablehlo.multiply %arg0, %0 : tensor<8xcomplex<f32>>
    %2 = stablehlo.add %1, %arg1 : tensor<8xcomplex<f32>>
    %3 = stablehlo.slice %arg0 [0:3] : (tensor<8xcomplex<f32>>) -> tensor<3xcomplex<f32>>
    return %2, %3 : tensor<8xcomplex<f32>>, tensor<3xcomplex<f32>>
  }
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<20x3xcomplex<f32>>, %arg1: tensor<3xcomplex<f32>>, %arg2: tensor<i32>) -> tensor<20x3xcomplex<f32>> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<3xcomplex<f32>>) -> tensor<1x3xcomplex<f32>>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c : (tensor<20x3xcomplex<f32>>, tensor<1x3xcomplex<f32>>, tensor<i32>, tensor<i32>) -> tensor<20x3xcomplex<f32>>
    return %1 : tensor<20x3xcomplex<f32>>
  }
}
