"""The array: what a user holds, how it is indexed, written to, printed and converted, and how it finds its values."""
