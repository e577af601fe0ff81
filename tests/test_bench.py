"""The sums of the benchmark, on numbers made up here; no test waits for a clock."""

from __future__ import annotations

import pytest

from tests.bench_statistics import AIMS, BESIDE, Sample, outcome, percentile, report


@pytest.mark.parametrize(
    ("values", "percent", "wanted"),
    [
        ([7.0], 50, 7.0),
        ([3.0, 1.0, 2.0], 50, 2.0),
        (list(range(1, 101)), 95, 95),
        (list(range(1, 101)), 100, 100),
        ([1.0, 9.0], 95, 9.0),
    ],
    ids=["one", "unsorted", "hundred", "worst", "two"],
)
def test_percentile_is_the_nearest_rank(values: list[float], percent: float, wanted: float) -> None:
    """A percentile is one of the measured values: the smallest that enough others do not exceed."""
    assert percentile(values, percent) == wanted


@pytest.mark.parametrize(("values", "percent"), [([], 50), ([1.0], 0), ([1.0], 101)], ids=["empty", "zero", "beyond"])
def test_percentile_refuses_what_has_none(values: list[float], percent: float) -> None:
    """No values, or a percent outside (0, 100], is an error and not a number."""
    with pytest.raises(ValueError, match="must lie in"):
        percentile(values, percent)


def made_up(**slower: float) -> list[Sample]:
    """Every sample that the report needs, 100 ms each but 20 ms for what the browser does alone."""
    names = {name for aim in AIMS.values() for name in (aim[0], aim[2]) if name} | {x for pair in BESIDE for x in pair}
    return [
        Sample(n, [slower.get(n.replace(" ", "_").replace(",", ""), 20.0 if "first paint" in n else 100.0)] * 3)
        for n in sorted(names)
    ]


def test_aim_is_a_ratio_or_a_time() -> None:
    """With a baseline the figure is a ratio of equal percentiles, else milliseconds; the limit itself is met."""
    samples = {"ours": Sample("ours", [130.0, 999.0, 1.0]), "bare": Sample("bare", [100.0, 1.0, 999.0])}
    assert outcome(samples, ("ours", 50, "bare", 1.3)) == (1.3, True)
    assert outcome(samples, ("ours", 50, None, 129)) == (130.0, False)


def test_report_names_every_sample_and_every_aim() -> None:
    """The report has a line for each sample, aim and ratio beside the aims, and says which aims are missed."""
    text = report(made_up(ledger_rule_server=200.0))
    lines = text.splitlines()
    assert len(lines) == 1 + len(made_up()) + len(AIMS) + len(BESIDE)
    assert [x for x in lines if x.startswith("MISSED")] == [x for x in lines if "rule, against" in x]
    assert all(title in text for title in AIMS) and "2.00x" in text
