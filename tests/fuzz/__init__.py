"""Random programs, drawn as users write them, checked against NumPy: `python -m tests.fuzz --help`."""
