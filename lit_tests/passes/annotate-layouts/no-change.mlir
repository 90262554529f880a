// RUN: relayout opt %s > %t.before
// RUN: relayout opt %s -p 'annotate-layouts{target=tpu-v5e}' > %t.after
// RUN: diff %t.before %t.after

func.func public @main(%arg0: tensor<3x5xf32> {mhlo.layout_mode = "{0,1}"}) -> (tensor<?xf32>) {
  %0 = "test.make"(%arg0) : (tensor<3x5xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
