"""HLO of computations under construction: values, folded constants, loops, and arithmetic with operators."""
