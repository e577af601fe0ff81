"""Prefix and cache through one verification round with a preset first rejection.

Teaches: what has to be undone after a rejection. Convention: of n confirmed tokens the last is *pending*, its keys and
values are not cached yet; the verification pass processes it and the k drafts, 1 + k positions. Leaves out: the
draft model's own cache, which is cut back to the same prefix.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal

from mechanisms.quantity import Quantity, given
from mechanisms.rejection_ledger import TOPIC
from mechanisms.table import Table, tabulate

Kind = Literal["start", "draft", "verify", "accept", "reject", "rollback", "correction", "bonus"]


def _count(name: str, tex: str, expression: Any = None, unit: str = "token") -> Quantity:
    return Quantity(f"{TOPIC}.{name}", tex, "derived", expression, unit=unit, index="", counts=True)


PREFIX = given(f"{TOPIC}.confirmed_tokens", "n", "chosen", unit="token", index="", counts=True)
DRAFTS = given(f"{TOPIC}.draft_length", "k", "chosen", unit="token", index="", counts=True)
ACCEPTED = given(f"{TOPIC}.accepted_tokens", "L", "chosen", unit="token", index="", counts=True)
_n, _k, _l = PREFIX.sym, DRAFTS.sym, ACCEPTED.sym
EMITTED = _count("tokens_emitted", "N", _l + 1)
DISCARDED = _count("drafts_discarded", "D", _k - _l)
BEFORE = _count("cached_before", "C_0", _n - 1, "position")
PROCESSED = _count("positions_processed", "B", 1 + _k, "position")
AFTER = _count("cached_after_verify", "C_1", BEFORE.sym + PROCESSED.sym, "position")
KEPT = _count("cache_kept", "C_2", _n + _l, "position")
DROPPED = _count("cache_dropped", "X", AFTER.sym - KEPT.sym, "position")
CONFIRMED = _count("confirmed_after", "n'", _n + EMITTED.sym)
COLUMNS = (PREFIX, DRAFTS, ACCEPTED, EMITTED, DISCARDED, BEFORE, PROCESSED, AFTER, KEPT, DROPPED, CONFIRMED)


@dataclass(frozen=True, slots=True)
class Tape:
    """State of a round: confirmed tokens, drafts with their fate, cached target positions, origin of the last token."""

    confirmed: int
    drafts: tuple[Literal["drafted", "accepted", "rejected", "discarded"], ...] = ()
    cached: int = 0
    last: Literal["", "correction", "bonus"] = ""


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened; `position` counts drafts from 1, 0 where no single draft is meant."""

    kind: Kind
    position: int
    tape: Tape


def cache_table(*, first_rejected: int | None, drafts: int = 4, prefix: int = 6, name: str = "") -> Table:
    """Counts of a round in one row. first_rejected: 1 … drafts, or None when all are accepted.

    Raises ValueError outside these ranges; prefix and drafts at least 1.
    Source: leviathan2022, Algorithm 1, for what is emitted; the cache follows from it.
    """
    _check(first_rejected, drafts, prefix)
    accepted = drafts if first_rejected is None else first_rejected - 1
    row = {PREFIX.name: (Fraction(prefix),), DRAFTS.name: (Fraction(drafts),), ACCEPTED.name: (Fraction(accepted),)}
    return tabulate(f"{TOPIC}.cache", COLUMNS, (name,), row, function="mechanisms.rejection_round.cache_table")


def _check(first_rejected: int | None, drafts: int, prefix: int) -> None:
    if drafts < 1 or prefix < 1:
        raise ValueError(f"drafts={drafts}, prefix={prefix}: both must be at least 1")
    if first_rejected is not None and not 1 <= first_rejected <= drafts:
        raise ValueError(f"first_rejected={first_rejected}: must be 1 … {drafts}, or None")


def step(event: Event, *, first_rejected: int | None, drafts: int) -> Event | None:
    """The event after `event`; None when the round is over."""
    tape, at = event.tape, event.position
    if event.kind in ("start", "draft") and len(tape.drafts) < drafts:
        return Event("draft", at + 1, replace(tape, drafts=(*tape.drafts, "drafted")))
    if event.kind == "draft":
        return Event("verify", 0, replace(tape, cached=tape.cached + 1 + drafts))
    if event.kind in ("verify", "accept"):
        if at == drafts:
            return Event("bonus", 0, replace(tape, confirmed=tape.confirmed + drafts + 1, last="bonus"))
        if at + 1 == first_rejected:
            fate = (*tape.drafts[:at], "rejected", *["discarded"] * (drafts - at - 1))
            return Event("reject", at + 1, replace(tape, drafts=fate))
        return Event("accept", at + 1, replace(tape, drafts=(*tape.drafts[:at], "accepted", *tape.drafts[at + 1 :])))
    if event.kind == "reject":
        # the pending token and the accepted drafts stay; the rejected one and all after it go
        return Event("rollback", at, replace(tape, cached=tape.cached - (drafts - at + 1)))
    if event.kind == "rollback":
        return Event("correction", at, replace(tape, confirmed=tape.confirmed + at, last="correction"))
    return None


def round_events(*, first_rejected: int | None, drafts: int = 4, prefix: int = 6) -> tuple[Event, ...]:
    """All events of a round, from the confirmed prefix to its last token."""
    _check(first_rejected, drafts, prefix)
    events = [Event("start", 0, Tape(prefix, (), prefix - 1))]
    while (following := step(events[-1], first_rejected=first_rejected, drafts=drafts)) is not None:
        events.append(following)
    return tuple(events)
