"""The decoding loop on a tiny random Llama: greedy texts, ends, caches, batches, interruption."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from gpu_demos.acceptance import Sampling
from gpu_demos.decoding import decode
from gpu_demos.decoding_types import Drafter, Round, Seen, Session
from gpu_demos.drafters.early_exit import EarlyExit
from gpu_demos.drafters.lookup import Lookup
from mechanisms.rejection_round import cache_table
from tests.lab_drafters import Noise, Oracle, Watched
from tests.tiny_llama import library_greedy, tiny

PROMPTS = [[1, 2, 3, 4, 5, 6], [7, 8, 9], [3] * 11]
COUNT = 40
DRAFTERS: dict[str, Drafter] = {
    "lookup": Lookup(),
    "lookup-first": Lookup(occurrence="first", longest=2),
    "exit-1": EarlyExit(1),
    "exit-2": EarlyExit(2),
    "noise": Noise(),
}
each_drafter = pytest.mark.parametrize("drafter", DRAFTERS.values(), ids=DRAFTERS.keys())


@pytest.fixture(scope="module")
def greedy() -> list[tuple[int, ...]]:
    """transformers' own greedy texts."""
    return [library_greedy(tiny(), prompt, COUNT) for prompt in PROMPTS]


def test_plain_decoding_equals_transformers(greedy: list[tuple[int, ...]]) -> None:
    """Without a drafter every round emits one token, and the text is that of `generate`."""
    found = decode(tiny(), PROMPTS, max_tokens=COUNT)
    assert [done.tokens for done in found] == greedy
    assert all(done.stopped == "length" and len(done.rounds) == COUNT for done in found)


@each_drafter
@pytest.mark.parametrize("drafts", [1, 5])
def test_greedy_speculation_equals_transformers(drafter: Drafter, drafts: int, greedy: list[tuple[int, ...]]) -> None:
    """Token by token, in a batch of unlike lengths, with any drafter, stopping at exactly the wanted length."""
    found = decode(tiny(), PROMPTS, drafter=drafter, drafts=drafts, max_tokens=COUNT)
    assert [done.tokens for done in found] == greedy
    assert all(len(r.drafts) <= drafts for done in found for r in done.rounds)


@each_drafter
def test_text_ends_with_the_first_end_token(drafter: Drafter, greedy: list[tuple[int, ...]]) -> None:
    """Whichever token ends a text, it ends with its first occurrence, the others go on. Three tokens a text."""
    for end in dict.fromkeys(text[place] for text in greedy for place in (0, 5, 19)):
        found = decode(tiny(), PROMPTS, drafter=drafter, max_tokens=COUNT, eos={end})
        for done, text in zip(found, greedy, strict=True):
            if end in text:
                assert (done.tokens, done.stopped) == (text[: text.index(end) + 1], "eos")
            else:
                assert (done.tokens, done.stopped) == (text, "length")


def test_end_inside_a_draft_ends_the_round(greedy: list[tuple[int, ...]]) -> None:
    """An accepted end token is the last: no later draft is judged, no bonus added, and the cache holds no more."""
    prompt, text = PROMPTS[0], greedy[0]
    place = next(i for i in range(2, COUNT) if text[i] not in text[:i])
    drafter = Oracle([*prompt, *text])
    (done,) = decode(tiny(), [prompt], drafter=drafter, drafts=place + 3, max_tokens=COUNT, eos={text[place]})
    (only,) = done.rounds
    assert (only.emitted, only.last, only.accepted) == (text[: place + 1], "", place + 1)
    assert len(only.drafts) == len(only.uniforms) == place + 1
    assert only.cached_after == len(prompt) + place + 1


@pytest.mark.parametrize("count", [1, 2, 5, 6, 7, 12])
def test_length_is_never_passed(count: int, greedy: list[tuple[int, ...]]) -> None:
    """A drafter that is always right still gives exactly as many tokens as were asked for."""
    drafter = Oracle([*PROMPTS[0], *greedy[0]])
    (done,) = decode(tiny(), [PROMPTS[0]], drafter=drafter, drafts=5, max_tokens=count)
    assert done.tokens == greedy[0][:count]
    assert len(done.rounds) == -(-count // 6)  # 5 drafts and the bonus per round


@pytest.mark.parametrize("first_rejected", [1, 2, 3, 4, None])
def test_counts_of_a_round_equal_the_mechanism(first_rejected: int | None, greedy: list[tuple[int, ...]]) -> None:
    """Cache lengths before, after the pass and after the rollback, for a preset first rejection, are those of the
    chapter's table; the first round, which also processes the prompt, is left out."""
    prompt, text, k = PROMPTS[0], greedy[0], 4
    confirmed = len(prompt) + 1
    wrong = [] if first_rejected is None else [confirmed + first_rejected - 1]
    drafter = Oracle([*prompt, *text], [len(prompt), *wrong])  # wrong at once: the first round emits one token
    (done,) = decode(tiny(), [prompt], drafter=drafter, drafts=k, max_tokens=20)
    second = done.rounds[1]
    table = cache_table(first_rejected=first_rejected, drafts=k, prefix=confirmed)
    names = ("cached_before", "cached_after_verify", "cache_kept", "accepted_tokens", "tokens_emitted")
    found = (second.cached_before, second.cached_after_verify, second.cached_after, second.accepted)
    assert (*found, len(second.emitted)) == tuple(table.value(0, name) for name in names)
    assert second.last == ("bonus" if first_rejected is None else "correction")
    assert done.tokens == text[:20]


@each_drafter
def test_cache_holds_the_text_after_every_rollback(drafter: Drafter) -> None:
    """After each round the kept keys and values are those of a fresh pass over the confirmed text."""
    target, checked = tiny(), []

    def watch(session: Session, row: int, seen: Seen) -> None:
        slot = session.live.index(row)
        length, text = session.cache.lengths[slot], session.texts[row]
        assert length == seen.start + len(seen.tokens) == len(text) - 1
        fresh = target.new_cache(1, length)
        target.run(torch.tensor([text[:length]]), [0], fresh)
        for stored, new in zip(session.cache.keys + session.cache.values, fresh.keys + fresh.values, strict=True):
            torch.testing.assert_close(stored[slot, :, :length], new[0], rtol=0, atol=1e-12)
        checked.append(row)

    decode(target, PROMPTS, drafter=Watched(drafter, watch), max_tokens=12)
    assert set(checked) == {0, 1, 2}


def test_drafter_sees_the_states_of_what_was_confirmed() -> None:
    """Positions come in order without a gap, with the states that transformers has there, normed and between layers."""
    target, parts = tiny(), {0: [], 1: [], 2: []}
    (watched := Watched(EarlyExit(2), lambda session, row, seen: parts[row].append(seen), taps=(1, 3)))
    found = decode(target, PROMPTS, drafter=watched, max_tokens=15)
    with torch.inference_mode():
        for row, done in enumerate(found):
            text = [*done.prompt, *done.tokens]
            out = target.model.model(torch.tensor([text]), output_hidden_states=True)
            at = 0
            for seen in parts[row]:
                assert seen.start == at and list(seen.tokens) == text[at : at + len(seen.tokens)]
                span = slice(at, at + len(seen.tokens))
                torch.testing.assert_close(seen.hidden, out.last_hidden_state[0, span], rtol=0, atol=1e-12)
                torch.testing.assert_close(seen.taps[1], out.hidden_states[1][0, span], rtol=0, atol=1e-12)
                at = span.stop
            assert at == len(text) - 1  # the last token is pending


# The noise's lengths come from one generator for all rows.
@pytest.mark.parametrize("drafter", list(DRAFTERS.values())[:-1], ids=list(DRAFTERS)[:-1])
@pytest.mark.parametrize("sampling", [Sampling(), Sampling(0.8, 0.9)], ids=["greedy", "sampled"])
def test_rows_of_a_batch_equal_single_runs(drafter: Drafter, sampling: Sampling) -> None:
    """Same tokens, same drafts, same counts alone and in a batch, where others end earlier; each row has its seed."""
    common: dict[str, Any] = {"drafter": drafter, "max_tokens": COUNT, "sampling": sampling, "eos": {17}}
    together = decode(tiny(), PROMPTS, seeds=[5, 6, 7], **common)
    for prompt, seed, done in zip(PROMPTS, (5, 6, 7), together, strict=True):
        (alone,) = decode(tiny(), [prompt], seeds=[seed], **common)
        assert alone.tokens == done.tokens and alone.stopped == done.stopped
        assert [(r.drafts, r.accepted, r.uniforms) for r in alone.rounds] == [
            (r.drafts, r.accepted, r.uniforms) for r in done.rounds
        ]


def test_trace_explains_every_decision() -> None:
    """In a sampled run a draft is accepted iff its uniform lies below min(1, p/q), up to the first that does not."""
    (done,) = decode(tiny(), [PROMPTS[0]], drafter=EarlyExit(2), max_tokens=60, sampling=Sampling(1.0))
    ends = set()
    for r in done.rounds:
        assert len(r.p) == len(r.q) == len(r.drafts)
        passed = [u < min(1, p / q) for u, p, q in zip(r.uniforms, r.p, r.q, strict=False)]
        assert passed == [True] * r.accepted + [False] * (len(r.uniforms) - r.accepted)
        assert r.emitted[: r.accepted] == r.drafts[: r.accepted] and len(r.emitted) == r.accepted + 1
        assert min(r.draft_s, r.verify_s, r.sample_s) >= 0
        ends.add(r.last)
    assert ends == {"correction", "bonus"}
    assert done.tokens == tuple(t for r in done.rounds for t in r.emitted)
    assert done.tokens_per_round == len(done.tokens) / len(done.rounds)


def test_accepted_counts_by_position() -> None:
    """Judged at a position: all before it accepted. Six rounds by hand: 5 drafts, the third wrong, is 2 of 3 …"""
    text = [*PROMPTS[0], *library_greedy(tiny(), PROMPTS[0], 12)]
    (done,) = decode(tiny(), [PROMPTS[0]], drafter=Oracle(text, [8]), drafts=5, max_tokens=9)
    # round 1: positions 6 … 10 drafted, 8 wrong: 2 accepted; round 2: 5 accepted and a bonus
    assert [(len(r.drafts), r.accepted) for r in done.rounds] == [(5, 2), (5, 5)]
    assert done.accepted_at() == [(2, 2), (2, 2), (2, 1), (1, 1), (1, 1)]


@pytest.mark.parametrize("rows", [1, 3])
def test_callback_can_stop_the_run(rows: int, greedy: list[tuple[int, ...]]) -> None:
    """It is told every round; after its False no other pass starts, and what is there is returned."""
    told: list[tuple[int, Round]] = []

    def stop(row: int, done: Round) -> bool:
        told.append((row, done))
        return len(told) < 2 * rows + 1

    found = decode(tiny(), PROMPTS[:rows], max_tokens=COUNT, on_round=stop)
    assert len(told) == 3 * rows
    for row, done in enumerate(found):
        assert done.stopped == "interrupted" and done.tokens == greedy[row][:3]
        assert list(done.rounds) == [r for at, r in told if at == row]


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "no-prompt": ({"prompts": []}, "prompts must be"),
    "empty-prompt": ({"prompts": [[]]}, "prompts must be"),
    "unknown-token": ({"prompts": [[50]]}, "outside 0 … 49"),
    "drafts": ({"drafts": -1}, "drafts=-1"),
    "tokens": ({"max_tokens": 0}, "max_tokens=0"),
    "seeds": ({"seeds": [1, 2]}, r"seeds=\[1, 2\] must be 1 numbers"),
    "context": ({"max_tokens": 300}, "context of this model"),
    "exit-depth": ({"drafter": EarlyExit(3)}, "layers=3 must lie in 1 … 2"),
}


@pytest.mark.parametrize(("change", "message"), BAD.values(), ids=BAD.keys())
def test_bad_arguments_are_refused(change: dict[str, Any], message: str) -> None:
    """The message names the argument and what is allowed."""
    arguments = {"prompts": [[1]], **change}
    with pytest.raises(ValueError, match=message):
        decode(tiny(), arguments.pop("prompts"), **arguments)
