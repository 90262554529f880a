"""HLO text, without the graph: tokens, grammar, attributes, literals and locations."""
