"""Types of command line options that argparse lacks."""

from __future__ import annotations

import argparse


def counted(text: str) -> int:
    """A whole number from 1 on; argparse tells the reader where it is not one.

    >>> counted("12")
    12
    """
    try:
        value = int(text)
    except ValueError:
        value = 0
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text!r} must be a whole number from 1 on")
    return value
