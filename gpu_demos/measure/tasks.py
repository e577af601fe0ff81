"""Small tasks with one right answer of one token, made on the fly: what perplexity averages away may fail here.

Copying a sequence, finding a fact among others at growing distance, recalling a value by its key, closing brackets,
adding. Each item is a text to continue and a few candidates; the model's choice is the candidate with the greatest
logit, so nothing has to be generated or parsed. Sizes are set so that the dequantized baseline is right in 40–90 %.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import torch

from gpu_demos.measure.laws import Read, plain
from gpu_demos.target import Target

WORDS = (
    "apple", "river", "stone", "cloud", "tiger", "bread", "chair", "music", "light", "horse", "paper", "glass",
    "green", "house", "water", "train", "money", "heart", "table", "night",
)  # fmt: skip
NAMES = ("Anna", "Peter", "Maria", "David", "Julia", "Simon", "Laura", "Thomas")
FILLER = (
    "The weather was mild that day.", "Nobody spoke for a while.", "The road went on along the hills.",
    "They stopped to eat some bread.", "A dog ran over the field.", "It was late in the afternoon.",
)  # fmt: skip
TASKS = (("copy", 12), ("copy", 24), ("needle", 4), ("needle", 12), ("recall", 8), ("brackets", 7), ("sums", 2))
PAIRS = (("(", ")"), ("[", "]"), ("{", "}"))


class Encoder(Protocol):
    """The one call of a tokenizer that is used here."""

    def encode(self, text: str, *, add_special_tokens: bool) -> list[int]: ...


@dataclass(frozen=True, slots=True)
class Item:
    """task and its size; tokens of the text; first tokens of the candidates, all different; place of the right one."""

    task: str
    size: int
    ids: tuple[int, ...]
    candidates: tuple[int, ...]
    answer: int


def items(tokenizer: Encoder, count: int, *, kinds: Sequence[tuple[str, int]] = TASKS, seed: int = 0) -> list[Item]:
    """`count` items of every kind (task and size); the same for one seed, whatever else is drawn."""
    found: list[Item] = []
    for name, size in kinds:
        rng = random.Random(f"{seed} {name} {size}")
        for _ in range(count):
            text, candidates, answer = MAKERS[name](size, rng)
            found.append(_item(tokenizer, name, size, text, candidates, answer))
    return found


def _item(
    tokenizer: Encoder, task: str, size: int, text: str, candidates: Sequence[str], answer: str
) -> Item:  # fmt: skip
    ids = tokenizer.encode(text, add_special_tokens=False)
    firsts: list[int] = []
    for candidate in candidates:
        longer = tokenizer.encode(text + candidate, add_special_tokens=False)
        if longer[: len(ids)] != ids or len(longer) == len(ids):
            raise ValueError(f"candidate={candidate!r} must add tokens to the text and change none of it")
        firsts.append(longer[len(ids)])
    if len(set(firsts)) != len(firsts):
        raise ValueError(f"candidates={tuple(candidates)!r} must begin with different tokens")
    return Item(task, size, tuple(ids), tuple(firsts), list(candidates).index(answer))


Made = tuple[str, Sequence[str], str]


def _copy(size: int, rng: random.Random) -> Made:
    """A sequence over few words, then its beginning again: one word back is not enough to know the next."""
    words = rng.sample(WORDS, 5)
    sequence = [rng.choice(words) for _ in range(size)]
    shown = rng.randrange(size // 2, size)
    text = f"List: {' '.join(sequence)}\nList: {' '.join(sequence[:shown])}"
    return text, [f" {w}" for w in words], f" {sequence[shown]}"


def _needle(size: int, rng: random.Random) -> Made:
    """Two facts of one form, `size` sentences that say nothing, then the question for one fact."""
    names, words = rng.sample(NAMES, 2), rng.sample(WORDS, 4)
    facts = [f"{n} has the {w}." for n, w in zip(names, words[:2], strict=True)]
    filler = [rng.choice(FILLER) for _ in range(size)]
    asked = rng.randrange(2)
    text = " ".join([*facts, *filler, f"As said before, {names[asked]} has the"])
    return text, [f" {w}" for w in words], f" {words[asked]}"


def _recall(size: int, rng: random.Random) -> Made:
    """`size` keys with a word each, all of them twice, the second time in another order up to the one asked for."""
    words = rng.sample(WORDS, 2 * size)
    pairs = list(zip(words[:size], words[size:], strict=True))
    again = rng.sample(pairs, size)
    asked = rng.randrange(1, size)
    lines = [f"{k}: {v}" for k, v in (*pairs, *again[:asked])]
    return "\n".join([*lines, f"{again[asked][0]}:"]), [f" {v}" for _, v in pairs], f" {again[asked][1]}"


def _brackets(size: int, rng: random.Random) -> Made:
    """Brackets nested `size` deep, partly closed: which one closes next?"""
    open_ = [rng.choice(PAIRS) for _ in range(size)]
    closed = rng.randrange(size - 1)
    text = " ".join([a for a, _ in open_] + [b for _, b in open_[::-1][:closed]])
    return f"( [ {{ }} ] )\n[ ( ( ) ) ]\n{text}", [f" {b}" for _, b in PAIRS], f" {open_[size - 1 - closed][1]}"


def _sums(size: int, rng: random.Random) -> Made:
    """Four examples, then a sum of `size` numbers that stays below 10."""

    def one() -> tuple[str, int]:
        while True:
            numbers = [rng.randrange(1, 8) for _ in range(size)]
            if sum(numbers) < 10:
                return "+".join(map(str, numbers)), sum(numbers)

    shown = [f"{text}={total}" for text, total in (one() for _ in range(4))]
    text, total = one()
    return "\n".join([*shown, f"{text}="]), "0123456789", str(total)


MAKERS: dict[str, Callable[[int, random.Random], Made]] = {
    "copy": _copy, "needle": _needle, "recall": _recall, "brackets": _brackets, "sums": _sums,
}  # fmt: skip


@torch.inference_mode()
def answers(target: Target, every: Sequence[Item], *, read: Read | None = None, rows: int = 16) -> list[int]:
    """Place of the candidate that the model prefers, for each item. Rows are filled up on the right, which no earlier
    position can see. read: as in `laws.states`."""
    read = read or plain(target)
    chosen = [0] * len(every)
    for batch in _batches(every, rows):
        width = max(len(every[i].ids) for i in batch)
        ids = torch.tensor([[*every[i].ids, *[0] * (width - len(every[i].ids))] for i in batch], device=target.device)
        hidden = read(ids)
        last = torch.stack([hidden[row, len(every[i].ids) - 1] for row, i in enumerate(batch)])
        for i, logits in zip(batch, target.logits(last), strict=True):
            chosen[i] = int(logits[list(every[i].candidates)].argmax())
    return chosen


def _batches(every: Sequence[Item], rows: int) -> Iterator[list[int]]:
    """Items of like length together, so that little is filled up."""
    order = sorted(range(len(every)), key=lambda i: len(every[i].ids))
    for begin in range(0, len(order), rows):
        yield order[begin : begin + rows]
