"""What HLO text says and how it is written: tokens, grammar, attributes, literals, places. Knows no graph."""
