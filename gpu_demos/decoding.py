"""One decoding loop: autoregressive, and speculative with any drafter; greedy and sampled; one text or a small batch.

A round drafts some tokens, lets the target process them in one pass together with the confirmed tokens that are not
cached yet, accepts a prefix by exact rejection sampling, adds a correction or a bonus token, and rolls the cache back.
Without a drafter every round has no drafts, and this is plain decoding. In the first round the tokens that are not
cached are the whole prompt, later it is one, the *pending* token, as in `mechanisms.rejection_round`.

Rows of a batch accept their own counts, have their own uniforms (so a row does not depend on its neighbours) and their
own positions from 0; shorter rows are filled up on the right within a pass only, and finished rows leave the batch.
Leaves out: trees of drafts, admission of new texts into a running batch.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from itertools import pairwise
from time import perf_counter

import torch

from gpu_demos.acceptance import GREEDY, Laws, Sampling, Verdict, verify
from gpu_demos.decoding_types import NO_DRAFT, Decoded, Draft, Drafter, Round, Seen, Session
from gpu_demos.target import Pass, Target, filled

OnRound = Callable[[int, Round], bool | None]
"""Called after each round of each row with the row and the round; False stops every row."""


def decode(
    target: Target,
    prompts: Sequence[Sequence[int]],
    *,
    drafter: Drafter | None = None,
    drafts: int = 5,
    max_tokens: int = 64,
    sampling: Sampling = GREEDY,
    seeds: Sequence[int] | None = None,
    eos: Collection[int] = (),
    on_round: OnRound | None = None,
) -> list[Decoded]:
    """Continue each prompt (token ids, at least one) by at most `max_tokens` tokens, up to and with a token of `eos`.

    drafts: how many a drafter may propose per round. seeds: one per row, 0, 1, … by default; used for sampling only.
    Raises ValueError for arguments out of range and for texts that do not fit into the model's context.
    """
    _check(target, prompts, drafts, max_tokens, seeds)
    with torch.inference_mode():
        cache = target.new_cache(len(prompts), max(map(len, prompts)) + max_tokens + drafts)
        session = Session.of(target, cache, sampling, prompts, seeds or range(len(prompts)), max_tokens)
        began = perf_counter()
        if drafter is not None:
            drafter.begin(session)
        while session.live:
            going = True
            for row, done in zip(list(session.live), _round(session, drafter, drafts, eos), strict=True):
                session.rounds[row].append(done)
                if on_round is not None and on_round(row, done) is False:
                    going = False
            if not going:
                break
            session.drop_finished(eos)
        return session.results(perf_counter() - began, eos)


def _round(session: Session, drafter: Drafter | None, drafts: int, eos: Collection[int]) -> list[Round]:
    """One round of every live row, in the order of `session.live`."""
    clock = [perf_counter()]
    proposed = _propose(session, drafter, drafts, eos)
    clock.append(perf_counter())
    starts = list(session.cache.lengths)
    pieces = [session.texts[r][s:] + list(d.tokens) for r, s, d in zip(session.live, starts, proposed, strict=True)]
    result = session.target.run(
        filled(pieces, session.target.device), starts, session.cache, taps=drafter.taps if drafter else ()
    )
    logits = session.target.logits(_last_states(result.hidden, pieces, proposed))
    _wait(session.target.device)
    clock.append(perf_counter())
    laws = session.sampling.laws(logits)
    verdicts = _judge(session, laws, proposed)
    clock.append(perf_counter())
    seconds = tuple(b - a for a, b in pairwise(clock))
    done: list[Round] = []
    for slot, (row, draft, verdict) in enumerate(zip(session.live, proposed, verdicts, strict=True)):
        done.append(_settle(session, slot, draft, verdict, len(pieces[slot]), eos, seconds))
        if drafter is not None:
            drafter.observe(row, _seen(result, slot, starts[slot], session.cache.lengths[slot], session.texts[row]))
    return done


def _propose(session: Session, drafter: Drafter | None, drafts: int, eos: Collection[int]) -> list[Draft]:
    """Drafts of every live row: never more than can still be used, and none after an end of text."""
    if drafter is None or drafts == 0:
        return [NO_DRAFT] * len(session.live)
    limits = [min(drafts, session.max_tokens - session.new_tokens(row) - 1) for row in session.live]
    found = drafter.propose(session.live, limits)
    return [_cut(draft, limit, eos) for draft, limit in zip(found, limits, strict=True)]


def _cut(draft: Draft, limit: int, eos: Collection[int]) -> Draft:
    ends = (i + 1 for i, token in enumerate(draft.tokens) if token in eos)
    return draft.first(min(next(ends, limit), limit))


def _last_states(hidden: torch.Tensor, pieces: Sequence[Sequence[int]], proposed: Sequence[Draft]) -> torch.Tensor:
    """(all positions that decide something, d): in each row the last confirmed token and the drafts."""
    spans = [(len(piece) - 1 - len(draft.tokens), len(piece)) for piece, draft in zip(pieces, proposed, strict=True)]
    parts = [hidden[slot, start:stop] for slot, (start, stop) in enumerate(spans)]
    return parts[0] if len(parts) == 1 else torch.cat(parts)


def _judge(session: Session, laws: Laws, proposed: Sequence[Draft]) -> list[Verdict]:
    verdicts, at = [], 0
    for row, draft in zip(session.live, proposed, strict=True):
        count = len(draft.tokens) + 1
        uniforms = session.uniforms(row, count)
        verdicts.append(verify(laws.part(at, at + count), draft.laws, draft.tokens, uniforms))
        at += count
    return verdicts


def _settle(
    session: Session,
    slot: int,
    draft: Draft,
    verdict: Verdict,
    processed: int,
    eos: Collection[int],
    seconds: tuple[float, ...],
) -> Round:
    """Take what was accepted into the text, up to an end of text, and cut the cache back to it."""
    text, cache = session.texts[session.live[slot]], session.cache
    before, confirmed = cache.lengths[slot], len(text)
    emitted = [*draft.tokens[: verdict.accepted], verdict.token]
    end = next((i + 1 for i, token in enumerate(emitted) if token in eos), len(emitted))
    accepted = min(verdict.accepted, end)
    text.extend(emitted[:end])
    cache.lengths[slot] = before + processed
    cache.rollback(slot, confirmed + accepted)
    return Round(
        drafts=draft.tokens,
        p=verdict.p,
        q=verdict.q,
        uniforms=verdict.uniforms[: accepted + 1],
        accepted=accepted,
        emitted=tuple(emitted[:end]),
        last=verdict.last if end == len(emitted) else "",
        cached_before=before,
        cached_after_verify=before + processed,
        cached_after=confirmed + accepted,
        draft_s=seconds[0],
        verify_s=seconds[1],
        sample_s=seconds[2],
    )


def _seen(result: Pass, slot: int, start: int, length: int, text: Sequence[int]) -> Seen:
    kept = slice(0, length - start)
    taps = {layer: state[slot, kept] for layer, state in result.taps.items()}
    return Seen(start, tuple(text[start:length]), result.hidden[slot, kept], taps)


def _wait(device: torch.device) -> None:
    """A clock on the host says something only when the device is done. The loop needs the result next anyway."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def _check(
    target: Target, prompts: Sequence[Sequence[int]], drafts: int, max_tokens: int, seeds: Sequence[int] | None
) -> None:
    if not prompts or not all(prompts):
        raise ValueError("prompts must be at least one list of at least one token each")
    if any(not 0 <= token < target.vocabulary for prompt in prompts for token in prompt):
        raise ValueError(f"prompts hold a token outside 0 … {target.vocabulary - 1}")
    if drafts < 0 or max_tokens < 1:
        raise ValueError(f"drafts={drafts} must be at least 0, max_tokens={max_tokens} at least 1")
    if seeds is not None and len(seeds) != len(prompts):
        raise ValueError(f"seeds={list(seeds)} must be {len(prompts)} numbers, one per prompt")
