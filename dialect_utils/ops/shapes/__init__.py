"""Results and constraints of operations, one file for each family: `result` and `check` of the rows of the table."""
