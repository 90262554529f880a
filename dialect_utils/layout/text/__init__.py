"""The text of shapes and layouts: reading, checking the words, and saying what they mean."""
