module @complex_parts {
  func.func public @main() -> (tensor<3x4xcomplex<f32>>, tensor<3x4xcomplex<f32>>, tensor<4x3xcomplex<f32>>) {
    %in:2 = call @inputs() : () -> (tensor<3x4xcomplex<f32>>, tensor<3x4xcomplex<f32>>)
    %want:3 = call @expected() : () -> (tensor<3x4xcomplex<f32>>, tensor<3x4xcomplex<f32>>, tensor<4x3xcomplex<f32>>)
    %got:3 = call @complex_parts(%in#0, %in#1) : (tensor<3x4xcomplex<f32>>, tensor<3x4xcomplex<f32>>) -> (tensor<3x4xcomplex<f32>>, tensor<3x4xcomplex<f32>>, tensor<4x3xcomplex<f32>>)
    stablehlo.custom_call @check.expect_eq(%got#0, %want#0) {has_side_effect = true} : (tensor<3x4xcomplex<f32>>, tensor<3x4xcomplex<f32>>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#1, %want#1) {has_side_effect = true} : (tensor<3x4xcomplex<f32>>, tensor<3x4xcomplex<f32>>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#2, %want#2) {has_side_effect = true} : (tensor<4x3xcomplex<f32>>, tensor<4x3xcomplex<f32>>) -> ()
    return %got#0, %got#1, %got#2 : tensor<3x4xcomplex<f32>>, tensor<3x4xcomplex<f32>>, tensor<4x3xcomplex<f32>>
  }
  func.func private @inputs() -> (tensor<3x4xcomplex<f32>>, tensor<3x4xcomplex<f32>>) {
    %cst = stablehlo.constant dense<[[(4.843750e-01,4.687500e-01), (1.875000e-01,-5.000000e-01), (4.531250e-01,-7.031250e-01), (1.406250e-01,1.187500e+00)], [(-6.093750e-01,-1.234375), (-5.625000e-01,4.375000e-01), (-9.062500e-01,-4.687500e-01), (-7.812500e-02,3.281250e-01)], [(9.062500e-01,2.968750e-01), (2.187500e-01,3.437500e-01), (7.031250e-01,-1.578125), (1.187500e+00,9.843750e-01)]]> : tensor<3x4xcomplex<f32>>
    %cst_0 = stablehlo.constant dense<[[(3.281250e-01,5.468750e-01), (-1.093750e+00,0.000000e+00), (2.656250e-01,-5.000000e-01), (1.343750e+00,1.562500e+00)], [(-2.812500e-01,3.125000e-01), (-1.250000e+00,4.531250e-01), (1.250000e-01,2.296875), (1.031250e+00,-2.656250e-01)], [(-6.250000e-01,-4.062500e-01), (2.656250e+00,-2.968750e-01), (1.031250e+00,-1.296875), (1.671875,-6.250000e-01)]]> : tensor<3x4xcomplex<f32>>
    return %cst, %cst_0 : tensor<3x4xcomplex<f32>>, tensor<3x4xcomplex<f32>>
  }
  func.func private @expected() -> (tensor<3x4xcomplex<f32>>, tensor<3x4xcomplex<f32>>, tensor<4x3xcomplex<f32>>) {
    %cst = stablehlo.constant dense<[[(8.125000e-01,1.015625), (-9.062500e-01,-5.000000e-01), (7.187500e-01,-1.203125), (1.484375,2.750000e+00)], [(-8.906250e-01,-9.218750e-01), (-1.812500e+00,8.906250e-01), (-7.812500e-01,1.828125), (9.531250e-01,6.250000e-02)], [(2.812500e-01,-1.093750e-01), (2.875000e+00,4.687500e-02), (1.734375,-2.875000e+00), (2.859375,3.593750e-01)]]> : tensor<3x4xcomplex<f32>>
    %cst_0 = stablehlo.constant dense<[[(4.687500e-01,3.281250e-01), (-5.000000e-01,-1.093750e+00), (-7.031250e-01,2.656250e-01), (1.187500e+00,1.343750e+00)], [(-1.234375,-2.812500e-01), (4.375000e-01,-1.250000e+00), (-4.687500e-01,1.250000e-01), (3.281250e-01,1.031250e+00)], [(2.968750e-01,-6.250000e-01), (3.437500e-01,2.656250e+00), (-1.578125,1.031250e+00), (9.843750e-01,1.671875)]]> : tensor<3x4xcomplex<f32>>
    %cst_1 = stablehlo.constant dense<[[(4.843750e-01,-4.687500e-01), (-6.093750e-01,1.234375), (9.062500e-01,-2.968750e-01)], [(1.875000e-01,5.000000e-01), (-5.625000e-01,-4.375000e-01), (2.187500e-01,-3.437500e-01)], [(4.531250e-01,7.031250e-01), (-9.062500e-01,4.687500e-01), (7.031250e-01,1.578125)], [(1.406250e-01,-1.187500e+00), (-7.812500e-02,-3.281250e-01), (1.187500e+00,-9.843750e-01)]]> : tensor<4x3xcomplex<f32>>
    return %cst, %cst_0, %cst_1 : tensor<3x4xcomplex<f32>>, tensor<3x4xcomplex<f32>>, tensor<4x3xcomplex<f32>>
  }
  func.func private @complex_parts(%arg0: tensor<3x4xcomplex<f32>>, %arg1: tensor<3x4xcomplex<f32>>) -> (tensor<3x4xcomplex<f32>>, tensor<3x4xcomplex<f32>>, tensor<4x3xcomplex<f32>>) {
    %0 = stablehlo.add %arg0, %arg1 : tensor<3x4xcomplex<f32>>
    %1 = stablehlo.imag %arg0 : (tensor<3x4xcomplex<f32>>) -> tensor<3x4xf32>
    %2 = stablehlo.real %arg1 : (tensor<3x4xcomplex<f32>>) -> tensor<3x4xf32>
    %3 = stablehlo.complex %1, %2 : tensor<3x4xcomplex<f32>>
    %4 = stablehlo.real %arg0 : (tensor<3x4xcomplex<f32>>) -> tensor<3x4xf32>
    %5 = stablehlo.imag %arg0 : (tensor<3x4xcomplex<f32>>) -> tensor<3x4xf32>
    %6 = stablehlo.negate %5 : tensor<3x4xf32>
    %7 = stablehlo.complex %4, %6 : tensor<3x4xcomplex<f32>>
    %8 = stablehlo.transpose %7, dims = [1, 0] : (tensor<3x4xcomplex<f32>>) -> tensor<4x3xcomplex<f32>>
    return %0, %3, %8 : tensor<3x4xcomplex<f32>>, tensor<3x4xcomplex<f32>>, tensor<4x3xcomplex<f32>>
  }
}
