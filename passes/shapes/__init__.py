"""Passes that give arrays other dimensions: split, merged, cut, in another order.

`orders` has the work of permute-dimensions, `parts` that of merge-dimensions and narrow-padding.
"""
