"""Layout passes over HLO text and StableHLO, written once against `dialect_utils.ir`."""
