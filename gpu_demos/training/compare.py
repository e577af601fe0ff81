"""Tables of acceptance on held-out text: one head with intervals, or several with paired differences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch

from gpu_demos.drafters.mtp import MtpHead
from gpu_demos.training.acceptance import Floats, Scores, interval, score
from gpu_demos.training.corpus import Corpus


def held_out_table(head: MtpHead, lm_head: torch.Tensor, corpus: Corpus) -> dict[str, Any]:
    """Domain -> measure -> mean, half width of the 95 % interval, number of texts; per depth where it has one."""
    return tabulated(score(head, lm_head, corpus))


def tabulated(scores: Sequence[Scores]) -> dict[str, Any]:
    """The table of one head's scores, as `held_out_table`."""
    values = measures(scores)
    return {domain: {name: _entry(v) for name, v in found.items()} for domain, found in values.items()}


def compare(heads: Mapping[str, MtpHead], lm_head: torch.Tensor, corpus: Corpus) -> dict[str, Any]:
    """The table of every head, and for every further head the paired difference to the first one."""
    values = {name: measures(score(head, lm_head, corpus)) for name, head in heads.items()}
    first = next(iter(values))
    tables = {n: {d: {m: _entry(x) for m, x in f.items()} for d, f in v.items()} for n, v in values.items()}
    differences = {
        name: {d: {m: _entry(x - values[first][d][m]) for m, x in found.items()} for d, found in table.items()}
        for name, table in values.items()
        if name != first
    }
    return {"heads": tables, "difference_to": first, "differences": differences}


def measures(scores: Sequence[Scores]) -> dict[str, dict[str, Floats]]:
    """Domain (and "all") -> measure -> one value, or one for each depth, per text.

    Acceptance is taken on sampled texts, at temperature 1 and 0.6 of both softmaxes; greedy agreement on greedy texts,
    since each belongs to the text that such a decoding would have written.
    """
    found: dict[str, dict[str, list[Floats]]] = {}
    for s in scores:
        rows: dict[str, Floats] = {}
        if s.temperature > 0:
            for t, values in s.acceptance.items():
                rows[f"acceptance_rate_t{t:g}"], rows[f"tokens_per_round_t{t:g}"] = values, s.tokens_per_round[t]
        else:
            rows = {"greedy_agreement": s.greedy, "tokens_per_round_greedy": s.greedy_tokens_per_round}
        for domain in (s.domain, "all"):
            for name, values in rows.items():
                found.setdefault(domain, {}).setdefault(name, []).append(values)
    return {d: {n: np.concatenate(v) for n, v in f.items()} for d, f in found.items()}


def _entry(values: Floats) -> dict[str, Any]:
    """values: (N,) or (N, K)."""
    columns = values[:, None] if values.ndim == 1 else values
    found = [interval(columns[:, k]) for k in range(columns.shape[1])]
    means, halves = [round(i.mean, 5) for i in found], [round(i.half_width, 5) for i in found]
    if values.ndim == 1:
        return {"mean": means[0], "ci95": halves[0], "texts": len(values)}
    return {"mean": means, "ci95": halves, "texts": len(values)}
