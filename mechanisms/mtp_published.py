"""Tables that others have printed, quoted row by row, with what follows from them beside it.

Teaches: to tell what a publication measured from what can be derived from its numbers. Nothing here was measured by us.
Leaves out: the Nemotron 3.5 report's own table, whose text was not found.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from mechanisms.mtp_boosting import TOPIC
from mechanisms.quantity import Quantity
from mechanisms.table import Table, tabulate

_FUNCTION = "mechanisms.mtp_published"
# category, base greedy, base at temperature 1, boosted greedy, boosted at temperature 1; draft length 7
SPEED_BENCH = tuple(line.split() for line in """
coding 5.152 4.739 5.452 4.872
humanities 3.950 3.738 4.102 3.857
math 5.127 4.661 5.343 4.733
multilingual 5.141 4.937 5.382 5.179
qa 4.251 4.089 4.469 4.331
rag 5.207 5.098 5.380 5.367
reasoning 4.672 4.315 4.896 4.502
roleplay 2.801 2.767 2.940 2.856
stem 4.258 3.935 4.435 4.094
summarization 4.413 4.321 4.552 4.468
writing 3.285 3.209 3.476 3.385
""".strip().splitlines())  # fmt: skip
PRINTED_AVERAGE = ("4.387", "4.165", "4.584", "4.331")
# loss, tokens per round at temperature 0 (MT-bench, HumanEval, GSM8K), then at temperature 1
EAGLE = tuple(line.split() for line in """
kl 3.75 4.82 4.50 3.39 4.31 3.88
tv 2.81 3.42 3.34 2.67 3.25 3.12
nla 3.77 4.82 4.55 3.50 4.48 3.98
half 3.78 4.84 4.53 3.35 4.36 3.95
decay1 3.80 4.83 4.54 3.51 4.47 3.96
decay3 3.84 4.89 4.57 3.48 4.52 4.02
""".strip().splitlines())  # fmt: skip
DEEPSEEK = tuple(line.split() for line in """
original 2.90 3.28 3.41 2.82 3.17 3.27
kl 3.96 4.74 5.67 3.66 4.39 5.23
hybrid 4.00 4.77 5.72 3.88 4.64 5.51
""".strip().splitlines())  # fmt: skip


def _quoted(name: str, tex: str, source: str) -> Quantity:
    return Quantity(f"{TOPIC}.{name}", tex, source, kind="quoted", unit="token", index="r")


def _derived(name: str, tex: str, expression: Any, unit: str = "token") -> Quantity:
    return Quantity(f"{TOPIC}.{name}", tex, "derived", expression, unit=unit, index="r")


_ULTRA = "nemotron3ultra §3.4"
BASE_GREEDY, BASE_WARM = _quoted("base_greedy", r"\tau_0", _ULTRA), _quoted("base_warm", r"\tau_1", _ULTRA)
BOOST_GREEDY, BOOST_WARM = _quoted("boost_greedy", r"\tau'_0", _ULTRA), _quoted("boost_warm", r"\tau'_1", _ULTRA)
_b0, _b1, _x0, _x1 = (q.sym for q in (BASE_GREEDY, BASE_WARM, BOOST_GREEDY, BOOST_WARM))
GAIN_GREEDY = _derived("gain_greedy", r"\Delta_0", 100 * (_x0 / _b0 - 1), unit="%")
GAIN_WARM = _derived("gain_warm", r"\Delta_1", 100 * (_x1 / _b1 - 1), unit="%")
BOOST = (BASE_GREEDY, BOOST_GREEDY, GAIN_GREEDY, BASE_WARM, BOOST_WARM, GAIN_WARM)

_TASKS = ("mt", "human", "gsm")
COLD = tuple(_quoted(f"cold_{n}", rf"\tau_{{0,{i}}}", "lk2026 Table 1") for i, n in enumerate(_TASKS, 1))
WARM = tuple(_quoted(f"warm_{n}", rf"\tau_{{1,{i}}}", "lk2026 Table 4") for i, n in enumerate(_TASKS, 1))
COLD_MEAN = _derived("cold_mean", r"\bar\tau_0", sum(q.sym for q in COLD) / 3)
WARM_MEAN = _derived("warm_mean", r"\bar\tau_1", sum(q.sym for q in WARM) / 3)
FIRST_MEAN = _derived("reference_mean", r"\bar\tau^{*}_1", None)
_ref = FIRST_MEAN.sym
WARM_GAIN = _derived("warm_gain", r"\Delta_1", 100 * (WARM_MEAN.sym / _ref - 1), unit="%")
LOSSES = (*COLD, COLD_MEAN, *WARM, WARM_MEAN, FIRST_MEAN, WARM_GAIN)


def speed_bench(names: Mapping[str, str]) -> Table:
    """Accepted lengths of Nemotron 3 Ultra before and after boosting, eleven categories, the printed average, and ours.

    Δ = 100 (τ'/τ − 1). names: category -> row label, with "printed" and "mean" for the last two rows.

    >>> table = speed_bench({})
    >>> table.rows[11:], [round(float(table.value(i, "base_warm")), 4) for i in (11, 12)]
    (('printed', 'mean'), [4.165, 4.1645])

    Source: nemotron3ultra, §3.4; the gains are derived from the printed lengths.
    """
    rows = [[Fraction(x) for x in line[1:]] for line in SPEED_BENCH]
    mean = [Fraction(sum(column), len(rows)) for column in zip(*rows, strict=True)]
    rows += [[Fraction(x) for x in PRINTED_AVERAGE], mean]
    columns = dict(zip((BASE_GREEDY, BASE_WARM, BOOST_GREEDY, BOOST_WARM), zip(*rows, strict=True), strict=True))
    labels = tuple(names.get(n, n) for n in (*(line[0] for line in SPEED_BENCH), "printed", "mean"))
    return tabulate(
        f"{TOPIC}.speed_bench", BOOST, labels, {q.name: list(c) for q, c in columns.items()},
        function=f"{_FUNCTION}.speed_bench",
    )  # fmt: skip


def loss_table(which: Sequence[Sequence[str]], reference: str, names: Mapping[str, str]) -> Table:
    """Tokens per round under several training losses, their means, and the gain at temperature 1 over `reference`.

    >>> table = loss_table(EAGLE, "kl", {})
    >>> round(float(table.value(5, "warm_mean")), 4), round(float(table.value(5, "warm_gain")), 4)
    (4.0067, 3.7997)

    Source: lk2026, Tables 1 and 4; means and gains derived.
    """
    labels = tuple(names.get(line[0], line[0]) for line in which)
    rows: dict[str, list[Fraction]] = {
        q.name: [Fraction(line[i]) for line in which] for i, q in enumerate((*COLD, *WARM), 1)
    }
    base = next(line for line in which if line[0] == reference)
    rows[FIRST_MEAN.name] = [Fraction(sum(Fraction(x) for x in base[4:])) / 3] * len(which)
    return tabulate(f"{TOPIC}.loss_table", LOSSES, labels, rows, function=f"{_FUNCTION}.loss_table")
