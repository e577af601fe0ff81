"""The tables of draft training in the shape of their reference files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction

from mechanisms.mtp_boosting import SEED_RATE, descent, totals
from mechanisms.mtp_cases import CASES, SEED_DRAFTS
from mechanisms.mtp_pair import draft_totals, masses
from mechanisms.quantity import as_fraction, decimal_text, exact_text
from mechanisms.table import Cell, Table

Row = Mapping[str, str]
# what the source document prints, to six places: q(0), KL, acceptance; then KL and acceptance of A and B
PRINTED: Mapping[str, tuple[str, ...]] = {
    "before": ("0.574443", "0.113953", "0.774443"),
    "after one step": ("0.596336", "0.094593", "0.796336"),
    "a": ("0.396864", "0.891000"),
    "b": ("0.091516", "0.800000"),
}


def _decimal(cell: Cell, places: int) -> str:
    assert cell is not None
    return decimal_text(cell, places).replace("−", "-")


def _status(printed: str, cell: Cell) -> bool:
    """A printed number is right within half a unit of its last place."""
    assert cell is not None
    return abs(Fraction(printed) - as_fraction(cell)) <= Fraction(1, 2 * 10**6)


def _numbers(table: Table) -> dict[str, str]:
    sums = totals(table)
    row = {f"{short}{i}_12dp": _decimal(table.value(i, name), 12)
           for short, name in (("z", "logit"), ("q", "draft_probability"), ("grad", "gradient"))
           for i in range(2)}  # fmt: skip
    for short, name in (("kl", "kl_divergence"), ("acceptance", "acceptance_rate")):
        row[f"{short}_12dp"] = _decimal(sums.value(0, name), 12)
    return row


def _step() -> Iterator[Row]:
    for stage, table in zip(("before", "after one step"), descent(CASES["seed"], rate=SEED_RATE, steps=1), strict=True):
        sums, printed = totals(table), PRINTED[stage]
        ours = (table.value(0, "draft_probability"), sums.value(0, "kl_divergence"), sums.value(0, "acceptance_rate"))
        yield {
            "stage": stage, "q0_printed": printed[0], "kl_printed": printed[1], "acceptance_printed": printed[2],
            **_numbers(table), "status": "ok" if all(map(_status, printed, ours)) else "mismatch",
        }  # fmt: skip


def _trajectory() -> Iterator[Row]:
    for i, table in enumerate(descent(CASES["seed"], rate=SEED_RATE)):
        yield {"step": str(i), **_numbers(table)}


def _reversal() -> Iterator[Row]:
    for which, law in (("a", SEED_DRAFTS.a), ("b", SEED_DRAFTS.b)):
        done = draft_totals(masses(SEED_DRAFTS, which), decay=Fraction(1))
        kl, rate = done.value(0, "kl_divergence"), done.value(0, "acceptance_rate")
        ok = all(map(_status, PRINTED[which], (kl, rate)))
        yield {
            "draft": which.upper(), **{f"q{i}": str(float(x)) for i, x in enumerate(law)},
            "kl_printed": PRINTED[which][0], "kl_12dp": _decimal(kl, 12), "acceptance_printed": PRINTED[which][1],
            "acceptance_exact": exact_text(as_fraction(rate or Fraction(0))),
            "tv_exact": exact_text(as_fraction(done.value(0, "total_variation") or Fraction(0))),
            "reverse_kl_12dp": _decimal(done.value(0, "reverse_kl"), 12),
            "pinsker_tv_bound_12dp": _decimal(done.value(0, "pinsker_bound"), 12),
            "status": "ok" if ok else "mismatch",
        }  # fmt: skip


TABLES: dict[str, Callable[[], Iterator[Row]]] = {
    "mtp_two_logit_step": _step,
    "mtp_two_logit_trajectory": _trajectory,
    "mtp_kl_vs_acceptance": _reversal,
}
