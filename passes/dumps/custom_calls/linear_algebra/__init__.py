"""The blocks of linear algebra that TPUs compute in one custom call, written as HLO.

Each function returns the text of a module whose entry computes what the custom call computes, on
arrays with any leading batch dimensions, of f32, f64 or c64. The algorithms are those of XLA's own
expanders (xla/hlo/transforms/expanders: qr_expander, triangular_solve_expander, cholesky_expander,
eigh_expander) and of `jax.lax.linalg` (`_lu_unblocked`): unblocked loops over columns, since these
calls get one block.
"""
