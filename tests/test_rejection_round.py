"""Tokens and cached positions through a round: invariants, an independent tape and the published counts."""

from __future__ import annotations

from itertools import pairwise

import pytest

from mechanisms.rejection_round import Event, cache_table, round_events, step

CASES = [(k, n, f) for k in range(1, 9) for n in (1, 6) for f in (*range(1, k + 1), None)]
IDS = [f"k{k}-n{n}-{'all' if f is None else f}" for k, n, f in CASES]


def cache_after(drafts: int, prefix: int, first_rejected: int | None) -> tuple[list[str], list[str], int]:
    """Confirmed tokens, kept cache and dropped positions, by writing the tokens down one by one."""
    confirmed = [f"c{i}" for i in range(prefix)]
    proposed = [f"d{i}" for i in range(1, drafts + 1)]
    cached = confirmed[:-1]  # the last confirmed token is pending
    cached += [confirmed[-1], *proposed]  # one pass over the pending token and all drafts
    good = proposed if first_rejected is None else proposed[: first_rejected - 1]
    confirmed += [*good, "last"]
    kept = [token for token in cached if token in confirmed]
    return confirmed, kept, len(cached) - len(kept)


@pytest.mark.parametrize(("drafts", "prefix", "first"), CASES, ids=IDS)
def test_counts_equal_a_written_out_cache(drafts: int, prefix: int, first: int | None) -> None:
    """Every count of the table is the length of a list written out token by token, and the last event agrees."""
    confirmed, kept, dropped = cache_after(drafts, prefix, first)
    emitted = len(confirmed) - prefix
    wanted = {
        "confirmed_tokens": prefix, "draft_length": drafts, "accepted_tokens": emitted - 1, "tokens_emitted": emitted,
        "drafts_discarded": drafts - emitted + 1, "cached_before": prefix - 1, "positions_processed": drafts + 1,
        "cached_after_verify": len(kept) + dropped, "cache_kept": len(kept), "cache_dropped": dropped,
        "confirmed_after": len(confirmed),
    }  # fmt: skip
    table = cache_table(first_rejected=first, drafts=drafts, prefix=prefix)
    assert {q.name: c[0] for q, c in zip(table.columns, table.cells, strict=True)} == wanted
    last = round_events(first_rejected=first, drafts=drafts, prefix=prefix)[-1].tape
    assert (last.confirmed, last.cached) == (len(confirmed), len(kept))
    assert last.last == ("bonus" if first is None else "correction")
    fates = [last.drafts.count(fate) for fate in ("accepted", "rejected", "discarded", "drafted")]  # type: ignore[arg-type]
    assert fates == [emitted - 1, int(first is not None), drafts - emitted + 1 - int(first is not None), 0]


@pytest.mark.parametrize(("drafts", "prefix", "first"), CASES, ids=IDS)
def test_events_keep_the_invariants(drafts: int, prefix: int, first: int | None) -> None:
    """One more token is confirmed than cached at both ends; every event does what its name says and nothing else."""
    events = round_events(first_rejected=first, drafts=drafts, prefix=prefix)
    for end in (events[0], events[-1]):
        assert end.tape.confirmed == end.tape.cached + 1
    accepted = drafts if first is None else first - 1
    tail = ["bonus"] if first is None else ["reject", "rollback", "correction"]
    assert [e.kind for e in events] == ["start", *["draft"] * drafts, "verify", *["accept"] * accepted, *tail]
    assert [e.position for e in events if e.kind in ("draft", "accept")] == [
        *range(1, drafts + 1),
        *range(1, accepted + 1),
    ]
    for before, after in pairwise(events):
        added = after.tape.confirmed - before.tape.confirmed
        assert added == (accepted + 1 if after.kind in ("bonus", "correction") else 0)
        moved = after.tape.cached - before.tape.cached
        assert moved == {"verify": drafts + 1, "rollback": accepted - drafts}.get(after.kind, 0)
        changed = [i for i, (x, y) in enumerate(zip(before.tape.drafts, after.tape.drafts, strict=False), 1) if x != y]
        expected = {"accept": [after.position], "reject": list(range(after.position, drafts + 1))}
        assert changed == expected.get(after.kind, [])
    assert step(events[-1], first_rejected=first, drafts=drafts) is None


def test_example_of_the_reference_file() -> None:
    """Four drafts on six tokens, the second rejected: the published example drops three of ten cached positions."""
    events = round_events(first_rejected=2)
    assert [(e.kind, e.tape.cached, e.tape.confirmed) for e in events[5:]] == [
        ("verify", 10, 6), ("accept", 10, 6), ("reject", 10, 6), ("rollback", 7, 6), ("correction", 7, 8),
    ]  # fmt: skip
    assert isinstance(events[0], Event)


@pytest.mark.parametrize(
    ("first", "drafts", "prefix"),
    [(0, 4, 6), (5, 4, 6), (None, 0, 6), (1, 4, 0)],
    ids=["before-first", "after-last", "no-draft", "no-prefix"],
)
def test_impossible_rounds_are_errors(first: int | None, drafts: int, prefix: int) -> None:
    """Positions that are not drafted, no drafts and no prefix are ValueErrors, in both functions."""
    for function in (cache_table, round_events):
        with pytest.raises(ValueError):
            function(first_rejected=first, drafts=drafts, prefix=prefix)
