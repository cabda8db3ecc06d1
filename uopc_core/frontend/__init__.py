"""What `Tensor` and `uopc_array.Array` share as handles in the hands of a user."""
