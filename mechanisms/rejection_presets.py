"""Eight pairs of target and draft, each made to show one thing. Our own numbers: the source document prints none."""

from __future__ import annotations

from fractions import Fraction

from mechanisms.distribution import Pair


def _pair(p: str, q: str, tokens: str = "A B C", multiplicity: str = "") -> Pair:
    def numbers(text: str) -> tuple[Fraction, ...]:
        return tuple(Fraction(x) for x in text.split())

    return Pair(tuple(tokens.split()), numbers(p), numbers(q), tuple(int(m) for m in multiplicity.split()))


PRESETS: dict[str, Pair] = {
    "zero_in_draft": _pair("0.40 0.35 0.25", "0.70 0.30 0.00"),
    "argmax_agrees_tv_large": _pair("0.40 0.35 0.25", "0.90 0.05 0.05"),
    "disjoint": _pair("0.00 0.60 0.40", "1.00 0.00 0.00"),
    "identical": _pair("0.55 0.30 0.15", "0.55 0.30 0.15"),
    "argmax_differs_tv_small": _pair("0.46 0.44 0.10", "0.44 0.46 0.10"),
    "sharp_target_flat_draft": _pair("0.90 0.07 0.03", "0.45 0.40 0.15"),
    "heavy_tail": _pair("0.44 0.25 0.16 0.15", "0.50 0.28 0.20 0.02", "A B C tail", "1 1 1 128"),
    "top_k_draft": _pair("0.40 0.25 0.15 0.10 0.06 0.04", "0.5000 0.3125 0.1875 0 0 0", "A B C D E F"),
}
