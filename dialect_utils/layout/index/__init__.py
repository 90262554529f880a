"""Where each element of a layout is: index maps, memory positions, sizes."""
