"""Kernel to loop nests."""
