module @m attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
sdy.mesh @mesh = <["x"=1]>
func.func public @main(%x: tensor<3x5xf32> {mhlo.layout_mode = "{1,0:T(2,2)}", mhlo.sharding = "{replicated}", sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>} loc("x")) -> (tensor<3x5xf32> {jax.result_info = "out", mhlo.layout_mode = "{1,0:T(2,2)}", mhlo.sharding = "{replicated}"}) {
  %n = stablehlo.negate %x {mhlo.frontend_attributes = {a = "b"}, mhlo.sharding = "{replicated}", xla_shape = "f32[3,5]{1,0:T(2,2)}"} : tensor<3x5xf32> loc("jit(f)/neg"("a.py":3:4))
  return %n : tensor<3x5xf32>
}
}
