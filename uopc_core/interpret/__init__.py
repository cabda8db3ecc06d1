"""Graph to numbers on NumPy."""
