"""Graph to graph: reverse mode and forward mode differentiation."""
