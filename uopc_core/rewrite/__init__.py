"""Graph to graph with the same meaning: a pattern engine and the rule tables on it."""
