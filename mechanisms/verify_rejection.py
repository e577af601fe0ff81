"""The rejection-ledger tables in the shape of their reference files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction

from mechanisms.distribution import Pair
from mechanisms.quantity import as_fraction, decimal_text, exact_text, is_infinite
from mechanisms.rejection_bias import greedy_bias
from mechanisms.rejection_ledger import ledger, summary, two_draft_length
from mechanisms.rejection_presets import PRESETS
from mechanisms.rejection_round import cache_table
from mechanisms.rejection_rules import RULES, Rule, output_law, rule, verdict
from mechanisms.rejection_walk import Round, verify_round
from mechanisms.table import Cell

Row = Mapping[str, str]
ORDER = (
    "identical", "zero_in_draft", "disjoint", "argmax_agrees_tv_large", "argmax_differs_tv_small",
    "sharp_target_flat_draft", "heavy_tail", "top_k_draft",
)  # fmt: skip
DRAFT_UNIFORMS = (Fraction("0.4"), Fraction("0.8"))
CORRECTION_UNIFORM, BONUS_UNIFORM = Fraction("0.2"), Fraction("0.3")
TRIAL_GRID = tuple(f"0.{k}5" for k in range(10))
WALK_GRID = ("0.05", "0.35", "0.65", "0.95")
RULE_NAMES = {
    "exact": "exact",
    "accept_all": "accept every draft",
    "no_residual": "correct from p instead of the residual",
    "argmax_draft": "argmax draft scored with its softmax value",
    "target_argmax": "accept only the target argmax, else emit it",
}
FILTERED = "draft cut to top 3, ratio from the uncut draft (equal to p)"


def _d6(cell: Cell) -> str:
    return "" if cell is None else decimal_text(cell)


def _exact(cell: Cell) -> str:
    return "" if cell is None else exact_text(as_fraction(cell))


def _ledger() -> Iterator[Row]:
    names = {"accept": "acceptance_probability", "direct": "direct_mass", "correction": "correction_mass",
             "final": "final_mass", "corr_dist": "residual"}  # fmt: skip
    for preset in ORDER:
        pair = PRESETS[preset]
        table = ledger(pair)
        for i, token in enumerate(pair.tokens):
            row = {"preset": preset, "token": token, "multiplicity": str(pair.multiplicity[i])}
            row |= {"p": _as_preset(preset, pair.p[i]), "q": _as_preset(preset, pair.q[i])}
            for short, name in names.items():
                row |= {short: _d6(table.value(i, name)), f"{short}_exact": _exact(table.value(i, name))}
            yield row


def _as_preset(preset: str, x: Fraction) -> str:
    """The reference prints the cut draft of `top_k_draft` with four places and its zeros as 0."""
    if preset != "top_k_draft" or x in PRESETS[preset].p:
        return decimal_text(x, 2)
    return decimal_text(x, 4) if x else "0"


def _summary() -> Iterator[Row]:
    for preset in ORDER:
        pair, table = PRESETS[preset], summary(PRESETS[preset])
        cell = {q.name: c[0] for q, c in zip(table.columns, table.cells, strict=True)}
        rate, kl, bound = cell["acceptance_rate"], cell["kl_divergence"], cell["pinsker_bound"]
        assert kl is not None and bound is not None
        assert cell["rejection_probability"] == cell["correction_total"]
        best_p, best_q = pair.favourite("p"), pair.favourite("q")
        residual = ledger(pair).column("residual")
        yield {
            "preset": preset, "vocabulary": str(sum(pair.multiplicity)),
            "accept_mass": _d6(rate), "accept_mass_exact": _exact(rate),
            "reject": _d6(cell["rejection_probability"]), "reject_exact": _exact(cell["rejection_probability"]),
            "kl_12dp": "infinity" if is_infinite(kl) else decimal_text(kl, 12),
            "pinsker_tv_bound_12dp": "infinity" if is_infinite(bound) else decimal_text(bound, 12),
            "argmax_p": pair.tokens[best_p], "argmax_q": pair.tokens[best_q],
            "argmax_agree": str(int(best_p == best_q)),
            "correction": "undefined" if None in residual else "|".join(_exact(x) for x in residual),
            "max_final_error_exact": _exact(cell["largest_error"]),
        }  # fmt: skip


def _run(pair: Pair, accept: tuple[str, ...]) -> Round:
    n = len(accept)
    return verify_round(
        [pair.single()] * n, draft_uniforms=DRAFT_UNIFORMS[:n], accept_uniforms=[Fraction(u) for u in accept],
        correction_uniform=CORRECTION_UNIFORM, bonus_uniform=BONUS_UNIFORM,
    )  # fmt: skip


def _single_trial() -> Iterator[Row]:
    for preset in ORDER:
        for u in TRIAL_GRID:
            done = _run(PRESETS[preset], (u,))
            a = done.steps[0].acceptance_probability
            yield {"preset": preset, "u_accept": u, "draft": done.drafts[0], "accept": _d6(a),
                   "accept_exact": _exact(a), "accepted": str(int(done.steps[0].accepted)),
                   "output": done.output[0]}  # fmt: skip


def _two_draft_walk() -> Iterator[Row]:
    words = ("first rejected", "second rejected", "both accepted")
    for preset in ORDER:
        for u in ((a, b) for a in WALK_GRID for b in WALK_GRID):
            done = _run(PRESETS[preset], u)
            always = _run(PRESETS[preset], ("0", "0"))  # reaches the second position unless the first has a = 0
            second = always.steps[1] if len(always.steps) == 2 else always.steps[0]
            yield {
                "preset": preset, "u_accept_1": u[0], "u_accept_2": u[1],
                "draft_1": done.drafts[0], "draft_2": done.drafts[1],
                "accept_1_exact": _exact(done.steps[0].acceptance_probability),
                "accept_2_exact": _exact(second.acceptance_probability),
                "result": words[done.accepted_tokens], "output": " ".join(done.output), "tokens": str(len(done.output)),
            }  # fmt: skip


def _two_draft_length() -> Iterator[Row]:
    names = {
        "p_one": "one_token",
        "p_two": "two_tokens",
        "p_three": "three_tokens",
        "expected_tokens": "tokens_per_round",
    }
    for preset in ORDER:
        rate = summary(PRESETS[preset]).value(0, "acceptance_rate")
        assert isinstance(rate, Fraction)
        table, row = two_draft_length(rate), {"preset": preset}
        for short, name in names.items():
            row |= {short: _d6(table.value(0, name)), f"{short}_exact": _exact(table.value(0, name))}
        yield row


def _law_rows(preset: str, pair: Pair, which: Rule, name: str) -> Iterator[Row]:
    table = output_law(pair, which, keep=3)
    distance = verdict(table).value(0, "distance")
    for i, token in enumerate(pair.tokens):
        law = table.value(i, "output_law")
        yield {"preset": preset, "rule": name, "token": token, "target": _d6(pair.p[i]), "output": _d6(law),
               "output_exact": _exact(law), "tv": _d6(distance), "tv_exact": _exact(distance)}  # fmt: skip


def _wrong_rules() -> Iterator[Row]:
    by_id = {r.id: r for r in RULES}
    for preset in ORDER:
        for id, name in RULE_NAMES.items():
            yield from _law_rows(preset, PRESETS[preset], by_id[id], name)
        if preset == "top_k_draft":  # here the draft reports the uncut target as its q
            uncut = Pair(PRESETS[preset].tokens, PRESETS[preset].p, PRESETS[preset].p)
            yield from _law_rows(preset, uncut, rule("filtered_draft"), FILTERED)


def _greedy_bias() -> Iterator[Row]:
    for preset in ORDER:
        pair, table = PRESETS[preset], greedy_bias(PRESETS[preset])
        cell = {q.name: c[0] for q, c in zip(table.columns, table.cells, strict=True)}
        counted, rate, distance = cell["counted_by_listing"], cell["acceptance_rate"], cell["distance"]
        yield {
            "preset": preset, "argmax_q": pair.tokens[pair.favourite("q")],
            "p_star": _as_preset(preset, as_fraction(cell["star_target"] or Fraction(0))),
            "q_star": _as_preset(preset, as_fraction(cell["star_draft"] or Fraction(0))),
            "listing_acceptance": _d6(counted), "listing_acceptance_exact": _exact(counted),
            "sampled_acceptance": _d6(rate), "sampled_acceptance_exact": _exact(rate),
            "point_mass_acceptance_exact": _exact(cell["point_mass_acceptance"]),
            "output_star_exact": _exact(cell["star_emitted"]), "tv": _d6(distance), "tv_exact": _exact(distance),
        }  # fmt: skip


def _rejection_cache() -> Iterator[Row]:
    names = {"drafts": "draft_length", "accepted": "accepted_tokens", "emitted": "tokens_emitted",
             "discarded": "drafts_discarded", "prefix": "confirmed_tokens", "cached_before": "cached_before",
             "processed": "positions_processed", "cached_after_verify": "cached_after_verify",
             "cache_kept": "cache_kept",
             "cache_dropped": "cache_dropped", "cached_plus_pending": "confirmed_after"}  # fmt: skip
    for position in (1, 2, 3, 4, None):
        table = cache_table(first_rejected=position)
        row = {short: _exact(table.value(0, name)) for short, name in names.items()}
        last = "bonus from the target" if position is None else "correction"
        yield row | {"first_rejected": "none" if position is None else str(position), "last_token": last}


TABLES: dict[str, Callable[[], Iterator[Row]]] = {
    "spec_ledger": _ledger,
    "spec_ledger_summary": _summary,
    "spec_single_trial": _single_trial,
    "spec_two_draft_walk": _two_draft_walk,
    "spec_two_draft_length": _two_draft_length,
    "spec_wrong_rules": _wrong_rules,
    "greedy_draft_bias": _greedy_bias,
    "spec_rejection_cache": _rejection_cache,
}
