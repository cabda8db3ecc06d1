"""Numbers as text: equal where their bits are, as constants are interned by their bits."""

from __future__ import annotations

import struct

__all__ = ["number_text"]

_NAN_BITS = 0x7FF8_0000_0000_0000  # of float("nan")


def number_text(value: complex) -> str:
    """A Python number as `.uir` writes it, sign and payload of a nan included."""
    if isinstance(value, complex):
        return f"complex({number_text(value.real)}, {number_text(value.imag)})"
    return repr(value) if value == value else _nan_text(value)


def _nan_text(value: float) -> str:
    (bits,) = struct.unpack("<Q", struct.pack("<d", value))
    return {_NAN_BITS: "nan", _NAN_BITS | 1 << 63: "-nan"}.get(bits, f"nan({bits})")
