"""Operations on whole arrays in normal form: broadcasts, slices, products, reductions and windows.

Dimensions that an operation treats alike are moved together and joined, so that the same operation on a
transposed or reshaped operand is the same term after another plan.
"""
