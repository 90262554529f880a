"""Rounding: the results whose bits it cannot change, the error that it explains, and results that are close."""
