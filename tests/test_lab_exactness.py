"""Whether speculation changes the output: both commands on a tiny model, their counts and their test recomputed."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from scipy import stats

from gpu_demos.acceptance import Laws
from gpu_demos.decoding import decode
from gpu_demos.decoding_types import NO_DRAFT, Draft, Seen, Session
from gpu_demos.measure import greedy_texts, sampled_law
from gpu_demos.record import find
from gpu_demos.target import Target
from tests.lab_measure import measured, tiny_loaded


class Never:
    """A drafter without drafts."""

    name, taps = "never", ()

    def begin(self, session: Session) -> None: ...

    def propose(self, rows: Sequence[int], limits: Sequence[int]) -> list[Draft]:
        return [NO_DRAFT] * len(rows)

    def observe(self, row: int, seen: Seen) -> None: ...


def test_greedy_texts_do_not_part_in_float32(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Two drafters, two sorts of linear layers, no text that parts."""
    records = measured(
        monkeypatch, greedy_texts, tmp_path / "r.json", "--drafters", "lookup,exit",
        "--passes", "fp32:torch,fp32:invariant", "--texts", "2", "--prompt-tokens", "8", "--tokens", "16",
    )  # fmt: skip
    assert [(r.id, r.value) for r in records] == [("greedy_texts.parted", 0)] * 4


def test_a_text_that_parts_is_counted_with_its_gap(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A loop that writes another sixth token when it has a drafter: every text parts there, and the gap is the distance
    of the two best logits after the five tokens before it."""
    asked: list[list[int]] = []

    def wrong(target: Target, prompts: list[list[int]], **more: Any) -> list[Any]:
        done = decode(target, prompts, **more)[0]
        if not more.get("drafter"):
            asked.append([*done.prompt, *done.tokens[:5]])
            return [done]
        other = (done.tokens[5] + 1) % 60
        return [dataclasses.replace(done, tokens=(*done.tokens[:5], other, *done.tokens[6:]))]

    monkeypatch.setattr(greedy_texts, "decode", wrong)
    records = measured(
        monkeypatch, greedy_texts, tmp_path / "r.json", "--drafters", "lookup", "--passes", "fp32:torch",
        "--texts", "1", "--prompt-tokens", "8", "--tokens", "8",
    )  # fmt: skip
    model = tiny_loaded("fp32").model
    gaps = [np.diff(np.sort(model(torch.tensor([ids])).logits[0, -1].detach().numpy())[-2:])[0] for ids in asked]
    assert find(records, "greedy_texts.parted").value == 3
    assert find(records, "greedy_texts.gap_where_parted").value == pytest.approx(float(np.median(gaps)))
    assert find(records, "greedy_texts.gap_where_parted").spread.value == pytest.approx(float(np.ptp(gaps)))


def test_sampled_law_finds_the_broken_rule_and_passes_the_right_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The exact rule passes the chi-square test and the one without residual fails."""
    records = measured(
        monkeypatch, sampled_law, tmp_path / "r.json", "--draws", "3000", "--batch", "500", "--drafter", "exit"
    )
    assert find(records, "sampled_law.p_value", rule="exact").value > 1e-3
    assert find(records, "sampled_law.p_value", rule="no_residual").value < 1e-9


def test_chi_square_is_pearsons() -> None:
    """Equal to scipy's where every cell is wide; rare tokens share a cell."""
    counts = Counter({0: 40, 1: 35, 2: 25})
    law = np.array([0.5, 0.3, 0.2])
    statistic, freedom = sampled_law.chi_square(counts, law)
    assert (statistic, freedom) == (pytest.approx(stats.chisquare([40, 35, 25], law * 100).statistic), 2)
    rare = np.array([0.5, 0.44, *[0.01] * 6])
    observed = Counter({0: 50, 1: 45, 3: 2, 7: 3})
    statistic, freedom = sampled_law.chi_square(observed, rare)
    assert (statistic, freedom) == (pytest.approx(stats.chisquare([50, 45, 5], [50, 44, 6]).statistic), 2)


def test_no_cell_of_the_chi_square_test_is_too_rare() -> None:
    """A rest with an expectation below five joins the smallest cell; an impossible token is an error."""
    statistic, freedom = sampled_law.chi_square(Counter({0: 135, 1: 64, 2: 1}), np.array([0.6995, 0.3, 0.0005]))
    assert (statistic, freedom) == (pytest.approx(stats.chisquare([135, 65], [139.9, 60.1]).statistic), 1)
    with pytest.raises(ValueError, match=r"tokens \[2\] were drawn"):
        sampled_law.chi_square(Counter({0: 50, 1: 50, 2: 40}), np.array([0.5, 0.5, 0.0]))


@pytest.mark.parametrize(("draws", "said"), [("4", "too few"), ("300", "cannot tell the broken rule")])
def test_sampled_law_that_shows_nothing_is_not_written(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str], draws: str, said: str
) -> None:
    """A drafter that never drafts cannot break a rule; four draws make no test."""
    monkeypatch.setattr(sampled_law, "choose", lambda name, loaded: Never())
    measured(monkeypatch, sampled_law, tmp_path / "r.json", "--draws", draws, "--batch", "100", code=1)
    assert said in capsys.readouterr().err and not (tmp_path / "r.json").exists()


def test_the_broken_rule_is_undone() -> None:
    """The negative control draws from the target; after it the exact rule stands again."""
    from gpu_demos import acceptance as rules

    before = rules.correct
    with sampled_law.rule_in_use("no_residual"):
        assert rules.correct(Laws(sure=[3]), Laws(sure=[4]), 0, rejected=4, u=0.0) == 3
        assert rules.correct is not before
    assert rules.correct is before
