"""Prompt lookup against transformers and brute force; names and missing weights."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from transformers.generation.candidate_generator import PromptLookupCandidateGenerator

from gpu_demos.acceptance import GREEDY
from gpu_demos.decoding_types import Session
from gpu_demos.drafters.choose import NAMES, choose
from gpu_demos.drafters.early_exit import EarlyExit
from gpu_demos.drafters.lookup import Lookup
from gpu_demos.models import Loaded
from gpu_demos.models_fetch import ModelUnavailable
from tests.tiny_llama import tiny

texts = st.lists(st.integers(0, 3), min_size=1, max_size=30)


def drafted(drafter: Lookup, text: list[int], limit: int = 4, *, known: int = 0) -> tuple[int, ...]:
    """The draft after `text`, of which the drafter has drafted after the first `known` tokens before."""
    target = tiny()
    session = Session.of(target, target.new_cache(1, 1), GREEDY, [text[: known or len(text)]], [0], 1)
    drafter.begin(session)
    if known:
        drafter.propose([0], [limit])
        session.texts[0].extend(text[known:])
    (found,) = drafter.propose([0], [limit])
    assert list(found.laws.sure) == list(found.tokens)
    return found.tokens


@given(text=texts, longest=st.integers(1, 4))
def test_first_occurrence_is_that_of_transformers(text: list[int], longest: int) -> None:
    """transformers' candidates are the beginning of ours, which go on where the text ends; none means none."""
    generator = PromptLookupCandidateGenerator(num_output_tokens=4, max_matching_ngram_size=longest, max_length=999)
    theirs = generator.get_candidates(torch.tensor([text]))[0][0, len(text) :].tolist()
    ours = list(drafted(Lookup(longest=longest, occurrence="first"), text))
    assert ours[: len(theirs)] == theirs
    assert len(ours) == (4 if theirs else 0)


def brute_force(text: list[int], longest: int, shortest: int, limit: int) -> tuple[int, ...]:
    """Longest suffix first, then from the right, every place; copied one by one from a growing text."""
    for size in range(longest, shortest - 1, -1):
        for start in range(len(text) - size - 1, -1, -1):
            if text[start : start + size] == text[-size:]:
                grown = list(text)
                for place in range(limit):
                    grown.append(grown[start + size + place])
                return tuple(grown[len(text) :])
    return ()


@given(text=texts, longest=st.integers(1, 4), shortest=st.integers(1, 4), limit=st.integers(0, 5), known=st.integers(0))
def test_latest_occurrence_equals_brute_force(
    text: list[int], longest: int, shortest: int, limit: int, known: int
) -> None:
    """Also when the text has grown since the last draft, which only adds to the index."""
    shortest = min(shortest, longest)
    found = drafted(Lookup(longest=longest, shortest=shortest), text, limit, known=known % len(text))
    assert found == brute_force(text, longest, shortest, limit)


def test_copy_reads_what_it_has_written() -> None:
    """A period of two continues for a draft of five."""
    assert drafted(Lookup(), [9, 1, 2, 1, 2], 5) == (1, 2, 1, 2, 1)


@pytest.mark.parametrize("sizes", [(0, 1), (2, 3), (0, 0)], ids=str)
def test_bad_sizes_are_refused(sizes: tuple[int, int]) -> None:
    """n-grams have at least one token, and the longest is not shorter than the shortest."""
    with pytest.raises(ValueError, match="1 <= shortest <= longest"):
        Lookup(longest=sizes[0], shortest=sizes[1])


def loaded() -> Loaded:
    tokenizer: Any = None
    return Loaded(tiny(layers=6).model, tokenizer, "tiny", "0" * 64, "fp64", "cpu", "random")


def test_drafters_have_names(tmp_path: Path) -> None:
    """Each name gives its drafter; an early exit leaves after two thirds of the layers unless told otherwise."""
    assert isinstance(choose("lookup", loaded()), Lookup)
    for layers, wanted in ((None, 4), (1, 1)):
        drafter = choose("exit", loaded(), layers=layers)
        assert isinstance(drafter, EarlyExit) and drafter.layers == wanted
    with pytest.raises(ValueError, match=f"drafter='best' must be one of {', '.join(NAMES)}"):
        choose("best", loaded())


def test_missing_weights_name_the_command(tmp_path: Path) -> None:
    """A trained drafter without weights says where it looked and how to train them."""
    with pytest.raises(ModelUnavailable, match=rf"{tmp_path} has none.*python -m gpu_demos\.train mtp"):
        choose("mtp", loaded(), weights=tmp_path)
