"""The text of shapes and layouts: reading and explaining."""
