"""Loop nests to C text."""
