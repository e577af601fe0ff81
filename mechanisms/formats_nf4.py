"""NF4: sixteen quantiles of a Gaussian as a codebook, one scale per block, and the scales quantized a second time.

Teaches: that a codebook need not be uniform, and what the second quantization saves. The sixteen values are those of
the published implementation (binary32); `quantile_code` shows that they are normal quantiles to about 1e-7. Leaves
out: the 8-bit *dynamic* map of that implementation for the scales; here they get a plain symmetric 8-bit grid, which
the summary calls by that name.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

_PUBLISHED = (
    "-1.0", "-0.6961928009986877", "-0.5250730514526367", "-0.39491748809814453", "-0.28444138169288635",
    "-0.18477343022823334", "-0.09105003625154495", "0.0", "0.07958029955625534", "0.16093020141124725",
    "0.24611230194568634", "0.33791524171829224", "0.44070982933044434", "0.5626170039176941", "0.7229568362236023",
    "1.0",
)  # fmt: skip
CODE: tuple[Fraction, ...] = tuple(map(Fraction, _PUBLISHED))
OFFSET = 0.9677083  # of the published construction: the quantile of the outermost level before division
BLOCK, SCALE_BLOCK = 64, 256


def quantile_code() -> NDArray[np.float64]:
    """The construction: 8 positive and 7 negative normal quantiles from 1/2 to the offset, and 0, over the largest.

    >>> round(float(quantile_code()[8]), 6)
    0.07958

    Source: dettmers2023, §3 and its published code.
    """
    positive = ndtri(np.linspace(OFFSET, 0.5, 9)[:-1])
    negative = -ndtri(np.linspace(OFFSET, 0.5, 8)[:-1])
    code = np.sort(np.concatenate([negative, [0.0], positive]))
    return code / code[-1]


def nf4_index(share: Fraction) -> int:
    """Place of the nearest code value for x divided by its block's largest magnitude; a midpoint goes to the lower one.

    >>> nf4_index(Fraction(1, 2)), nf4_index((CODE[14] + CODE[15]) / 2)
    (12, 14)

    Source: dettmers2023; the tie rule is that of the published code.
    """
    if not -1 <= share <= 1:
        raise ValueError(f"share={share}: must lie in [−1, 1]")
    return sum(share > (a + b) / 2 for a, b in pairwise(CODE))


def nf4_block(values: Sequence[Fraction]) -> tuple[Fraction, tuple[int, ...], tuple[Fraction, ...]]:
    """Scale max|x|, indices and restored values of one block; a block of zeros has scale 0 and index 7, the code 0.

    >>> nf4_block([Fraction(-2), Fraction(0)])[:2]
    (Fraction(2, 1), (0, 7))

    Source: dettmers2023.
    """
    if not values:
        raise ValueError("values=[]: a block has at least one value")
    scale = max(abs(x) for x in values)
    indices = tuple(nf4_index(x / scale) if scale else 7 for x in values)
    return scale, indices, tuple(scale * CODE[i] for i in indices)


def double_quantized(scales: Sequence[Fraction]) -> tuple[Fraction, Fraction, tuple[Fraction, ...]]:
    """Mean, step and restored scales where the scales, less their mean, get symmetric 8-bit codes.

    The step is max|s − mean|/127. scales: those of one group of blocks (256 in the published setting), at least one.
    The mean is one number for a whole tensor and is not counted in 4.127 bits a weight.

    >>> double_quantized([Fraction(1), Fraction(3)])
    (Fraction(2, 1), Fraction(1, 127), (Fraction(1, 1), Fraction(3, 1)))

    Source: dettmers2023, §3, with a uniform instead of its dynamic 8-bit map.
    """
    if not scales:
        raise ValueError("scales=[]: at least one is needed")
    mean = sum(scales, Fraction(0)) / len(scales)
    step = max(abs(s - mean) for s in scales) / 127
    return mean, step, tuple(mean + step * round((s - mean) / step) if step else mean for s in scales)
