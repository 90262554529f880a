"""XLA's command-line tools as functions: a part of a module, other formats, counts, short texts, FileCheck lines."""
