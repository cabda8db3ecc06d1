"""How many bytes the arrays of this process hold: counted, not asked of the system."""

import gc

from uopc_core import Buffer

__all__ = ["leave_out_what_is_there", "live_bytes"]


def leave_out_what_is_there() -> None:
    """From now on `live_bytes` counts what is made after this, and need not look at all that other tests have left."""
    gc.collect()
    gc.freeze()


def live_bytes() -> int:
    """Bytes of all memory that arrays, pending work or anybody else keeps alive, and that was not left out."""
    gc.collect()
    return sum([buffer.nbytes for buffer in gc.get_objects() if type(buffer) is Buffer])
