"""Graph to graph: differentiation in reverse and forward mode, and batching."""
