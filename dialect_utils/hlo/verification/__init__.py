"""The parts of the verifier of HLO that look at more than one instruction, and at literals."""
