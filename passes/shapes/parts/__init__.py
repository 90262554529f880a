"""Arrays that are stored as parts, or as one part with fewer dimensions, and the operations that compute with parts."""
