// RUN: not relayout opt %s -p 'fold-tiling{depth=2}' 2>&1 | filecheck %s --check-prefix=OPTION
// RUN: not relayout opt %s -p fold-tiling 2>&1 | filecheck %s

// OPTION: error: {{.*}}depth
// CHECK: error: {{.*}}repeats dimension 1
func.func public @main(%arg0: tensor<3x5xf32> {mhlo.layout_mode = "{1,1}"}) -> tensor<3x5xf32> {
  return %arg0 : tensor<3x5xf32>
}
