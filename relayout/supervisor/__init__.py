"""Supervision: the process of a command reads no file; sandboxed children do, one input after another."""
