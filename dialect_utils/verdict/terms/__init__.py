"""Modules as terms by the definitions of their operations, and the meaning of terms: shared by proof and replay."""
