module @jit_bytes_arithmetic attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @empty_mesh = <[]> {stablehlo.mesh = {axes = []}}
  func.func public @main(%arg0: tensor<24x200xi8> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}, %arg1: tensor<24x200xui8> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}) -> (tensor<24x200xi8> {jax.result_info = "result[0]"}, tensor<24x200xui8> {jax.result_info = "result[1]"}, tensor<200x24xi8> {jax.result_info = "result[2]"}, tensor<24x133xui8> {jax.result_info = "result[3]"}) {
    %0 = stablehlo.convert %arg0 : (tensor<24x200xi8>) -> tensor<24x200xi32>
    %1 = stablehlo.convert %arg1 : (tensor<24x200xui8>) -> tensor<24x200xi32>
    %2 = stablehlo.multiply %0, %1 : tensor<24x200xi32>
    %c = stablehlo.constant dense<7> : tensor<i32>
    %3 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<24x200xi32>
    %4 = stablehlo.shift_right_arithmetic %2, %3 : tensor<24x200xi32>
    %5 = stablehlo.convert %4 : (tensor<24x200xi32>) -> tensor<24x200xi8>
    %6 = stablehlo.convert %arg0 : (tensor<24x200xi8>) -> tensor<24x200xui8>
    %7 = stablehlo.xor %arg1, %6 : tensor<24x200xui8>
    %8 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<24x200xi8>) -> tensor<200x24xi8>
    %c_0 = stablehlo.constant dense<3> : tensor<i8>
    %9 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i8>) -> tensor<200x24xi8>
    %10 = stablehlo.add %8, %9 : tensor<200x24xi8>
    %c_1 = stablehlo.constant dense<200> : tensor<ui8>
    %11 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<ui8>) -> tensor<24x200xui8>
    %12 = stablehlo.minimum %arg1, %11 : tensor<24x200xui8>
    %13 = stablehlo.slice %12 [0:24, 40:173] : (tensor<24x200xui8>) -> tensor<24x133xui8>
    return %5, %7, %10, %13 : tensor<24x200xi8>, tensor<24x200xui8>, tensor<200x24xi8>, tensor<24x133xui8>
  }
}
