"""Layouts in the notations of other tools: CuTe, F2-linear layouts, strides, memrefs, packs, JAX and einops."""
