"""Codes of 2 to 8 bits packed into bytes, row by row.

Order, packing version 1: within a row, code i occupies bits i·b … i·b + b − 1 of a stream whose first bit is the least
significant bit of the first byte. Four-bit codes thus lie two in a byte with the even one in the low nibble, eight-bit
codes are bytes. Every row starts at a byte; unused bits at its end are 0. Leaves out: the interleaved orders that fast
kernels use.
"""

from __future__ import annotations

import numpy as np

from mechanisms.calibration_grid import Codes

PACKING_VERSION = 1


def row_bytes(width: int, bits: int) -> int:
    """Bytes of a packed row. Source: derived.

    >>> row_bytes(5, 4), row_bytes(8, 3)
    (3, 3)
    """
    return (width * bits + 7) // 8


def pack(codes: Codes, bits: int) -> Codes:
    """(rows, width) codes below 2^bits -> (rows, row_bytes). bits: 1 … 8.

    >>> pack(np.array([[1, 2, 15]], np.uint8), 4).tolist()
    [[33, 15]]

    Source: this wiki's packing version 1; the nibble order of gguf's and torch's pairs.
    """
    _check(bits)
    if codes.ndim != 2 or codes.dtype != np.uint8:
        raise ValueError(f"codes are {codes.dtype} of shape {codes.shape}: uint8 with two axes are needed")
    if codes.size and int(codes.max()) >> bits:
        raise ValueError(f"codes up to {int(codes.max())} do not fit {bits} bits")
    single = np.unpackbits(codes[..., None], axis=-1, bitorder="little", count=bits)
    return np.packbits(single.reshape(len(codes), -1), axis=-1, bitorder="little")


def unpack(packed: Codes, bits: int, width: int) -> Codes:
    """The inverse of `pack`. packed: (rows, row_bytes(width, bits)).

    >>> unpack(np.array([[33, 15]], np.uint8), 4, 3).tolist()
    [[1, 2, 15]]
    """
    _check(bits)
    if packed.ndim != 2 or packed.dtype != np.uint8 or packed.shape[1] != row_bytes(width, bits):
        raise ValueError(
            f"packed is {packed.dtype} of shape {packed.shape}: uint8 rows of {row_bytes(width, bits)} are needed"
        )
    single = np.unpackbits(packed, axis=-1, bitorder="little", count=width * bits).reshape(len(packed), width, bits)
    return np.packbits(single, axis=-1, bitorder="little")[..., 0]


def _check(bits: int) -> None:
    if not 1 <= bits <= 8:
        raise ValueError(f"bits={bits}: must lie in 1 … 8")
