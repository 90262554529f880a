"""What the attributes and contents of operations say, in the same words for both text dialects."""
