"""What a forked child does first, where processes fork at all."""

from __future__ import annotations

import os
from collections.abc import Callable

__all__ = ["in_forked_child"]


def in_forked_child(renew: Callable[[], None]) -> None:
    """Have `renew` called in every child forked from now on, before anything else runs there."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=renew)
