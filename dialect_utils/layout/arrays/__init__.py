"""numpy arrays of every element type, packed and unpacked as layouts say."""
