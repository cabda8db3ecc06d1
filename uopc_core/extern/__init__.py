"""Functions of host libraries as nodes of the graph, with their rules beside them."""
