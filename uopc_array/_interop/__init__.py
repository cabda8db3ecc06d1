"""How arrays of ours and NumPy's own functions meet."""
