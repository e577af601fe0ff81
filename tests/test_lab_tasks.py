"""Tasks, paired statistics and the two commands that use them, on models whose answers are known."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tiny_llama import tiny

from gpu_demos.measure import common, kv_cache, quantization
from gpu_demos.measure.common import Sheet
from gpu_demos.measure.compared import add_tasks
from gpu_demos.measure.laws import score, states
from gpu_demos.measure.paired import bootstrap, mcnemar, p99
from gpu_demos.measure.subject import Words, subject
from gpu_demos.measure.tasks import MAKERS, TASKS, Item, answers, items
from gpu_demos.models import is_cached, load
from gpu_demos.quantize_model import VARIANTS
from gpu_demos.record import find
from gpu_demos.record import load as load_records
from tests.lab_measure import SHARED


def text_of(words: Words, item: Item) -> str:
    names = {number: word for word, number in words.numbers.items()}
    return "".join(names[i] for i in item.ids)


def test_items_are_solved_by_reading_them() -> None:
    """Another program that only reads the text finds the right candidate of every item."""
    words = Words()
    every = items(words, 20)
    names = {number: word for word, number in words.numbers.items()}
    solvers = {
        "copy": read_copy,
        "needle": read_needle,
        "recall": read_recall,
        "brackets": read_brackets,
        "sums": read_sum,
    }
    assert {(item.task, item.size) for item in every} == set(TASKS)
    assert set(solvers) == set(MAKERS)
    for item in every:
        found = solvers[item.task](text_of(words, item))
        assert names[item.candidates[item.answer]].strip() == found, text_of(words, item)


def read_copy(text: str) -> str:
    first, second = (line.removeprefix("List: ").split() for line in text.split("\n"))
    assert first[: len(second)] == second
    return first[len(second)]


def read_needle(text: str) -> str:
    name = text.split("As said before, ")[1].split()[0]
    return text.split(f"{name} has the ")[1].split(".")[0]


def read_recall(text: str) -> str:
    lines = text.split("\n")
    return dict(line.split(": ") for line in lines[:-1])[lines[-1].rstrip(":")]


def read_brackets(text: str) -> str:
    stack, closing = [], {"(": ")", "[": "]", "{": "}"}
    for mark in text.split("\n")[-1].split():
        if mark in closing:
            stack.append(closing[mark])
        else:
            assert stack.pop() == mark
    return stack[-1]


def read_sum(text: str) -> str:
    return str(sum(int(n) for n in text.split("\n")[-1].rstrip("=").split("+")))


def test_items_do_not_depend_on_what_else_is_drawn() -> None:
    """One kind alone gives the items it gives among all; another seed gives others."""
    alone = items(Words(), 3, kinds=[("sums", 2)])
    among = [i for i in items(Words(), 3) if i.task == "sums"]
    assert [i.answer for i in alone] == [i.answer for i in among]
    assert [i.ids for i in items(Words(), 9, seed=1)] != [i.ids for i in items(Words(), 9)]


def test_answers_are_the_candidates_with_the_greatest_logit() -> None:
    """Filling up a batch on the right changes nothing: transformers' own pass over each text alone agrees."""
    target, rng = tiny(), np.random.default_rng(1)
    texts = [(rng.integers(0, 50, n).tolist(), rng.permutation(50)[:4].tolist()) for n in (3, 9, 5, 1)]
    every = [Item("x", 0, tuple(ids), tuple(candidates), 0) for ids, candidates in texts]
    expected = []
    for item in every:
        logits = target.model(torch.tensor([item.ids])).logits[0, -1]
        expected.append(max(range(4), key=lambda k, scores=logits, one=item: float(scores[one.candidates[k]])))
    assert answers(target, every, rows=3) == expected


def test_scores_equal_the_definitions() -> None:
    """Loss, KL and flips of two models, against transformers' logits and sums written out."""
    one, other = tiny(), tiny(seed=1)
    other.model.lm_head.weight.data.copy_(one.model.lm_head.weight)  # the LM head is shared by a changed model
    ids = torch.from_numpy(np.random.default_rng(0).integers(0, 50, (2, 6)))
    found = score(one, ids, states(other, ids), states(one, ids, rows=1))
    p, q = (m.model(ids).logits.softmax(-1).double().numpy() for m in (one, other))
    for row, at in itertools.product(range(2), range(5)):
        assert found.loss[row, at] == pytest.approx(-math.log(q[row, at, ids[row, at + 1]]), rel=1e-5)
        kl = sum(a * math.log(a / b) for a, b in zip(p[row, at], q[row, at], strict=True))
        assert found.divergence[row, at] == pytest.approx(kl, rel=1e-4)
        assert found.flipped[row, at] == (p[row, at].argmax() != q[row, at].argmax())


def test_mcnemar_equals_counting_coins() -> None:
    """The exact probability, by counting all ways to flip the changed answers."""
    for lost, gained in ((0, 0), (5, 0), (1, 6), (4, 4), (2, 5)):
        n, far = lost + gained, abs(lost - gained)
        ways = sum(abs(2 * sum(coins) - n) >= far for coins in itertools.product((0, 1), repeat=n))
        assert mcnemar(lost, gained) == pytest.approx(ways / 2**n)


def test_bootstrap_of_a_mean_is_the_standard_error() -> None:
    """For the mean of texts the bootstrap gives 1.96 standard errors, here within ten percent."""
    texts = np.random.default_rng(0).normal(size=(60, 1))
    expected = 1.96 * float(texts.std()) / math.sqrt(60)
    assert bootstrap(texts, lambda x: float(x.mean())).value == pytest.approx(expected, rel=0.1)
    assert p99(np.arange(101.0)) == 99.0


def test_task_records_pair_the_same_items() -> None:
    """Lost and gained are counted item by item, not as a difference of two sums."""
    every = [Item("sums", 2, (1,), (0, 1), answer) for answer in (0, 0, 1, 1)]
    sheet = Sheet("x", SHARED)
    add_tasks(sheet, every, [0, 1, 0, 1], [0, 0, 0, 0], {"variant": "v"})
    at = {"task": "sums", "size": "2", "variant": "v"}
    values = {
        name: find(sheet.records, f"x.{name}", **at).value for name in ("task_accuracy", "task_lost", "task_gained")
    }
    assert values == {"task_accuracy": 0.5, "task_lost": 1, "task_gained": 1}
    assert find(sheet.records, "x.task_mcnemar_p", **at).value == 1


@dataclass(frozen=True)
class Command:
    module: Any
    conditions: str
    values: int


@pytest.mark.parametrize(
    "command", [Command(quantization, "variant", len(VARIANTS) + 1), Command(kv_cache, "cache", 3)],
    ids=["quantization", "kv_cache"],
)  # fmt: skip
def test_commands_write_every_variant(command: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The command at small size writes a file of records that reads back, with each quantity for each variant."""
    monkeypatch.setattr(common, "provenance", lambda *a, **more: SHARED)
    out = tmp_path / "r.json"
    assert command.module.main(["--small", "--out", str(out)]) == 0
    records = load_records(out)
    for name in ("perplexity", "kl_mean", "kl_p99", "top1_flips", "task_accuracy", "task_mcnemar_p"):
        own = [r for r in records if r.id.endswith(f".{name}")]
        assert len({r.at[command.conditions] for r in own}) == command.values
    baseline = [r for r in records if r.id.endswith("kl_mean") and r.at[command.conditions] in ("baseline", "exact")]
    assert baseline
    assert all(r.value == 0 for r in baseline)


@pytest.mark.skipif(not is_cached(), reason="the real model is not in the cache")
def test_real_tokenizer_makes_every_task() -> None:
    """With SmolLM2's tokenizer each candidate adds a token of its own, and the other tokens of the text stay."""
    tokenizer = load(dtype="bf16").tokenizer
    assert len(items(tokenizer, 4)) == 4 * len(TASKS)


def test_the_small_subject_is_the_same_each_time() -> None:
    """Two calls make one model: a command's numbers at small size repeat."""
    one, two = (subject("any", small=True).target.model.state_dict() for _ in range(2))
    assert all(torch.equal(one[name], two[name]) for name in one)
