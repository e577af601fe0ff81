"""Prompts, the text that the model writes, what is kept beside it, and how it is read again."""

import json
import math
import random
from pathlib import Path

import pytest
import torch
from scipy import stats
from transformers import LlamaForCausalLM

from gpu_demos.training import text as text_module
from gpu_demos.training.corpus import coverage, likely_tokens, read
from gpu_demos.training.domains import DOMAINS, _files, _sources, _topics, describe, prompts
from gpu_demos.training.text import TextConfig, plan, sample, taps, write
from tests.lab_training import BASE, VOCABULARY, Characters, target_log, tiny_llama, train_corpus, written


@pytest.fixture(scope="module")
def model() -> LlamaForCausalLM:
    return tiny_llama()


@pytest.fixture(scope="module")
def folder(model: LlamaForCausalLM, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("text"), model)


def test_split_by_file_is_disjoint_and_complete() -> None:
    """No file gives text to both sides, every long enough file gives text to one, and either side has some."""
    for domain, every in (("code", _files()), ("prose", _topics())):
        sides = [{s.name for s in _sources(domain, side)} for side in ("train", "held_out")]
        assert not sides[0] & sides[1]
        assert sides[0] | sides[1] == {s.name for s in every if len(s.text) >= 2000}
        assert min(map(len, sides)) > 0


@pytest.mark.parametrize("domain", ["code", "prose"])
@pytest.mark.parametrize("side", ["train", "held_out"])
def test_excerpts_are_from_their_side(domain: str, side: str) -> None:
    """An excerpt of text, at the start of a line, is found in a file of its side."""

    class Verbatim(Characters):
        def encode(self, text: str, *, add_special_tokens: bool) -> list[int]:
            return [ord(c) for c in text]

    found = prompts(Verbatim(), domain, side, count=5, length=40, rng=random.Random(3))
    texts = [s.text for s in _sources(domain, side)]
    for ids in found:
        excerpt = "".join(map(chr, ids))
        assert len(ids) == 40
        assert any("\n" + excerpt in text for text in texts)


def test_questions_of_one_batch_agree_in_length() -> None:
    """A batch of chat needs no padding, and the same seed asks the same questions."""
    first, again = (prompts(Characters(), "chat", "train", count=4, length=9, rng=random.Random(5)) for _ in range(2))
    assert first == again
    assert len({len(ids) for ids in first}) == 1
    assert len({tuple(ids) for ids in first}) > 1


def test_unknown_domain_is_refused() -> None:
    """The message names what was asked for."""
    with pytest.raises(ValueError, match="domain='verse'"):
        prompts(Characters(), "verse", "train", count=1, length=4, rng=random.Random(0))  # type: ignore[arg-type]


def test_description_names_both_sides() -> None:
    """Hashes of both sides differ, so a changed split cannot go unnoticed; the description survives JSON."""
    entry = describe()
    assert json.loads(json.dumps(dict(entry))) == entry
    assert entry["sources"]["code"]["train"]["sha256"] != entry["sources"]["code"]["held_out"]["sha256"]


def test_plan_gives_each_domain_both_sides_and_temperatures() -> None:
    """Held-out shards come as sampled and as greedy text in every domain, and one round in six is held out."""
    config = TextConfig(base=BASE)
    plans = [plan(config, i) for i in range(36)]
    held = [(p.domain, p.temperature) for p in plans if p.side == "held_out"]
    assert sorted(held) == sorted((d, t) for d in DOMAINS for t in (0.0, 0.8))
    assert len({p.seed for p in plans}) == 36


def test_states_are_those_of_one_pass_over_the_text(model: LlamaForCausalLM, folder: Path) -> None:
    """What was kept while sampling token by token equals transformers' own pass over the finished text, up to bf16."""
    shard = train_corpus(folder).shards[0]
    with torch.no_grad():
        out = model(shard.tokens, output_hidden_states=True)
    assert torch.allclose(shard.states.float(), out.hidden_states[-1], rtol=2**-8, atol=1e-3)
    kept = torch.stack([out.hidden_states[i] for i in taps(3)], 2)
    assert torch.allclose(shard.taps.float(), kept, rtol=2**-8, atol=1e-3)
    assert torch.allclose(shard.log_normalizer, out.logits.logsumexp(-1), atol=1e-5)
    ids = torch.tensor([4, 7, 50])
    p = target_log(shard, torch.tensor([1, 3]), model.lm_head.weight[ids])
    assert torch.allclose(p, out.logits.log_softmax(-1)[[1, 3]][..., ids], atol=0.05)  # states rounded to bf16


def test_sampling_follows_the_law() -> None:
    """Frequencies of 40,000 draws at temperature ½ pass a chi-square test, and a token without mass is never drawn."""
    logits = torch.tensor([-math.inf, 0.3, 1.0, -math.inf, -0.5, 0.0, -math.inf], dtype=torch.float64)
    drawn = sample(logits.expand(40_000, -1), 0.5, torch.Generator().manual_seed(5))
    counts, law = torch.bincount(drawn, minlength=7), torch.softmax(2 * logits, -1)
    possible = law > 0
    assert counts[~possible].tolist() == [0, 0, 0]
    assert stats.chisquare(counts[possible].numpy(), 40_000 * law[possible].numpy()).pvalue > 1e-3


def test_greedy_shard_is_what_generate_writes(model: LlamaForCausalLM, folder: Path) -> None:
    """At temperature 0 a shard equals transformers' generate from the same prompts, up to the end of each text."""
    shard = next(s for s in read(folder, "held_out").shards if s.temperature == 0)
    start = shard.tokens[:, : shard.prompt]
    new = shard.tokens.shape[1] - shard.prompt
    out = model.generate(start, attention_mask=torch.ones_like(start), max_new_tokens=new, do_sample=False)
    for row, length in zip(range(len(start)), shard.lengths.tolist(), strict=True):
        assert out[row, :length].tolist() == shard.tokens[row, :length].tolist()


def test_end_of_text_ends_what_is_scored(model: LlamaForCausalLM, tmp_path: Path) -> None:
    """A text counts up to and with its end; behind it nothing is scored."""
    with torch.no_grad():
        model = tiny_llama(seed=2)
        model.model.norm.weight.mul_(0.3)  # flat enough that the end comes by chance
    shard = read(written(tmp_path, model, shards=3, length=80, batch=8), "train").shards[0]
    ended = [i for i in range(8) if shard.lengths[i] < shard.tokens.shape[1]]
    assert ended
    for row in ended:
        last = int(shard.lengths[row]) - 1
        assert shard.tokens[row, last] == 2
        assert 2 not in shard.tokens[row, shard.prompt : last].tolist()
        assert int(shard.scored(written=True)[row].sum()) == last - (shard.prompt - 1)


def test_interrupted_writing_goes_on_and_gives_the_same(
    model: LlamaForCausalLM, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stop while a shard is being written leaves no shard, and the next run ends with the same text as one run."""
    real = text_module.save_file
    calls = 0

    def stops(tensors: object, path: Path, meta: object) -> None:
        nonlocal calls
        calls += 1
        if calls == 2:
            path.write_bytes(b"half")
            raise KeyboardInterrupt
        real(tensors, path, meta)  # type: ignore[arg-type]

    monkeypatch.setattr(text_module, "save_file", stops)
    with pytest.raises(KeyboardInterrupt):
        written(tmp_path, model)
    assert [p.name for p in sorted(tmp_path.glob("*.safetensors"))] == ["shard-0000.safetensors"]
    written(tmp_path, model)
    assert read(tmp_path, "train").sha256 == train_corpus(folder).sha256
    assert not list(tmp_path.glob("*.part"))


def test_text_of_another_configuration_is_not_mixed(model: LlamaForCausalLM, folder: Path) -> None:
    """A folder takes only shards of its own settings; the message names the one that differs."""
    other = TextConfig(base=BASE, batch=6, held_out_batch=6, prompt=5, written=19, seed=9)
    with pytest.raises(ValueError, match="another seed"):
        list(write(model, Characters(), folder, other, shards=1, minutes=1))


def test_budget_of_time_ends_writing(model: LlamaForCausalLM, tmp_path: Path) -> None:
    """With no time left nothing is begun."""
    config = TextConfig(base=BASE, batch=2, prompt=3, written=4)
    assert list(write(model, Characters(), tmp_path, config, shards=5, minutes=-1)) == []


@pytest.mark.parametrize("name", ["batch", "held_out_batch", "prompt", "written"])
def test_sizes_of_nothing_are_refused(name: str) -> None:
    """The message names the argument."""
    with pytest.raises(ValueError, match=f"{name}=0 must be at least 1"):
        TextConfig(base=BASE, **{name: 0})


def test_epoch_shows_every_text_once(folder: Path) -> None:
    """The batches of one epoch are a partition of all texts; the next epoch has another order."""
    corpus = train_corpus(folder)
    count = sum(-(-len(s.tokens) // 4) for s in corpus.shards)
    seen = [(s.name, int(r)) for i in range(count) for s, rows in [corpus.batch(i, size=4, seed=1)] for r in rows]
    assert sorted(seen) == sorted((s.name, i) for s in corpus.shards for i in range(len(s.tokens)))
    later = [
        (s.name, int(r)) for i in range(count) for s, rows in [corpus.batch(count + i, size=4, seed=1)] for r in rows
    ]
    assert seen != later
    assert sorted(seen) == sorted(later)


def test_draft_vocabulary_takes_the_mass(model: LlamaForCausalLM, folder: Path) -> None:
    """The tokens chosen hold at least the mass of any other choice, by transformers' own softmax; coverage counts."""
    corpus = train_corpus(folder)
    ids = likely_tokens(corpus, model.lm_head.weight, count=20)
    mass = torch.zeros(VOCABULARY)
    with torch.no_grad():
        for shard in corpus.shards:
            mass += model(shard.tokens).logits.softmax(-1)[shard.scored(written=True)].sum(0)
    best = mass.sort(descending=True).values[:20].sum()
    assert float(mass[ids].sum() / best) == pytest.approx(1, abs=2e-3)  # states rounded to bf16 may swap neighbours
    every = [
        int(t) in set(ids.tolist())
        for s in corpus.shards
        for row, n in zip(s.tokens, s.lengths.tolist(), strict=True)
        for t in row[s.prompt : n]
    ]
    assert coverage(corpus, ids) == pytest.approx(sum(every) / len(every))
    assert coverage(corpus, torch.arange(VOCABULARY)) == 1


@pytest.mark.parametrize("count", [0, VOCABULARY + 1])
def test_draft_vocabulary_has_limits(model: LlamaForCausalLM, folder: Path, count: int) -> None:
    """No empty vocabulary, and none larger than the target's."""
    with pytest.raises(ValueError, match=f"count={count} must lie in"):
        likely_tokens(train_corpus(folder), model.lm_head.weight, count=count)


def test_no_text_is_said(tmp_path: Path, folder: Path, model: LlamaForCausalLM) -> None:
    """An empty folder, a side without shards and a broken file have their own messages."""
    with pytest.raises(ValueError, match=r"holds no text\.json"):
        read(tmp_path, "train")
    written(tmp_path, model, shards=1)
    with pytest.raises(ValueError, match="no held_out shard"):
        read(tmp_path, "held_out")
    path = tmp_path / "shard-0000.safetensors"
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(ValueError, match=r"shard-0000.*cannot be read.*delete it"):
        read(tmp_path, "train")
