"""Graph to a plan of kernels and host calls."""
