module @jit_qr_reduced attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @empty_mesh = <[]> {stablehlo.mesh = {axes = []}}
  func.func public @main(%arg0: tensor<18x7xf32> {sdy.sharding = #sdy.sharding<@empty_mesh, [{}, {}]>}) -> (tensor<18x7xf32> {jax.result_info = "result[0]"}, tensor<7x7xf32> {jax.result_info = "result[1]"}, tensor<18x7xf32> {jax.result_info = "result[2]"}) {
    %0:2 = call @qr(%arg0) : (tensor<18x7xf32>) -> (tensor<18x7xf32>, tensor<7x7xf32>)
    %1 = stablehlo.abs %0#0 : tensor<18x7xf32>
    %2 = stablehlo.abs %0#1 : tensor<7x7xf32>
    %3 = stablehlo.dot_general %0#0, %0#1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<18x7xf32>, tensor<7x7xf32>) -> tensor<18x7xf32>
    return %1, %2, %3 : tensor<18x7xf32>, tensor<7x7xf32>, tensor<18x7xf32>
  }
  func.func private @qr(%arg0: tensor<18x7xf32>) -> (tensor<18x7xf32>, tensor<7x7xf32>) {
    %0:2 = stablehlo.custom_call @Qr(%arg0) {backend_config = ""} : (tensor<18x7xf32>) -> (tensor<18x7xf32>, tensor<7xf32>)
    %1 = stablehlo.custom_call @ProductOfElementaryHouseholderReflectors(%0#0, %0#1) {backend_config = ""} : (tensor<18x7xf32>, tensor<7xf32>) -> tensor<18x7xf32>
    %2 = stablehlo.slice %0#0 [0:7, 0:7] : (tensor<18x7xf32>) -> tensor<7x7xf32>
    %3 = stablehlo.iota dim = 0 : tensor<7x7xi32>
    %c = stablehlo.constant dense<-1> : tensor<i32>
    %4 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<7x7xi32>
    %5 = stablehlo.add %3, %4 : tensor<7x7xi32>
    %6 = stablehlo.iota dim = 1 : tensor<7x7xi32>
    %7 = stablehlo.compare GE, %5, %6, SIGNED : (tensor<7x7xi32>, tensor<7x7xi32>) -> tensor<7x7xi1>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<7x7xf32>
    %9 = stablehlo.select %7, %8, %2 : tensor<7x7xi1>, tensor<7x7xf32>
    return %1, %9 : tensor<18x7xf32>, tensor<7x7xf32>
  }
}
