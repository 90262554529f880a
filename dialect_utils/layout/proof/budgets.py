"""How long isl may compute before indices are enumerated instead."""

# isl cannot be timed, only its operations counted, and those differ: comparing two maps takes it 0.1 to 0.3 ms an
# operation, computing with relations 3 us (measured on chains of pads and transposes by odd sizes, one core of 2024).
# Both budgets are about two seconds at most. Layouts of real dumps need 1,600 and 6,400 operations.
ISL_BUDGET = 10_000
RELATION_BUDGET = 500_000
# Blocks enumerate about as many elements while isl does one operation of a comparison. An array that takes blocks
# longer than isl's budget gives isl as long as they would take.
ELEMENTS_PER_OPERATION = 2_000
