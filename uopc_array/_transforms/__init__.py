"""Functions of functions: derivatives, `vmap`, `jit`, and the traces, trees and captured state that they share."""
