"""HLO text: tokens, grammar, attributes, literals, positions. Knows no graph."""
