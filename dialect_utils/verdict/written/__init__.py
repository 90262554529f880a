"""Programs written down as terms, by the definitions of their operations: what a proof and its replay share."""
