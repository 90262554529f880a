"""The steps of a compilation, judged one by one: the first pass that changed what a program computes."""
