"""Attention of our own: against a softmax in float64, and the same bits whatever the number of tokens."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
import torch

from gpu_demos.batch_invariant import attends, attention, use
from gpu_demos.cache import KVCache
from gpu_demos.decoding import decode
from gpu_demos.drafters.lookup import Lookup
from gpu_demos.quantize_cache import WindowCache
from gpu_demos.target import Target
from tests.lab_measure import NO_COMPILER
from tests.lab_training import tiny_llama

pytestmark = pytest.mark.skipif(bool(NO_COMPILER), reason=NO_COMPILER)
SHAPES = [
    (1, 9, 3, 1, 300), (1, 9, 3, 6, 300), (2, 2, 2, 5, 70), (3, 4, 1, 7, 64), (1, 8, 1, 3, 513), (1, 4, 2, 40, 40),
    (2, 6, 3, 1, 1),
]  # fmt: skip


def made(
    rows: int, heads: int, groups: int, tokens: int, slots: int, size: int, dtype: torch.dtype
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Queries, keys and values; the latter two are the first slots of a larger cache."""
    generator = torch.Generator().manual_seed(slots + size)
    query = 2 * torch.randn(rows, heads, tokens, size, generator=generator)
    cached = torch.randn(2, rows, groups, slots + 9, size, generator=generator)
    keys, values = cached.to(dtype)[:, :, :, :slots]
    return query.to(dtype), keys, values


def exact(query: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, lags: Sequence[int]) -> torch.Tensor:
    """Softmax attention in float64, every query by itself."""
    rows, heads, tokens, size = query.shape
    groups, slots = keys.shape[1:3]
    out = torch.zeros(rows, tokens, heads, size, dtype=torch.float64)
    for row in range(rows):
        for head in range(heads):
            for t in range(tokens):
                seen = slots - lags[row] - tokens + t + 1
                of = head // (heads // groups)
                scores = keys[row, of, :seen].double() @ query[row, head, t].double() / size**0.5
                out[row, t, head] = scores.softmax(-1) @ values[row, of, :seen].double()
    return out.flatten(2)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("size", [32, 64, 256])
@pytest.mark.parametrize("shape", SHAPES)
def test_it_is_softmax_attention(shape: tuple[int, int, int, int, int], size: int, dtype: torch.dtype) -> None:
    """Rows of unlike length, several queries to a key head, more keys than one piece; rounded once at the end."""
    query, keys, values = made(*shape, size, dtype)
    lags = [min(3 * row, shape[4] - shape[3]) for row in range(shape[0])]
    expected = exact(query, keys, values, lags)
    bound = 2e-6 if dtype == torch.float32 else 2**-8 * expected.abs() + 2e-5
    assert ((attention(query, keys, values, lags, size**-0.5).double() - expected).abs() <= bound).all()


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("shape", SHAPES)
def test_a_token_gets_the_same_bits_in_every_width(shape: tuple[int, int, int, int, int], dtype: torch.dtype) -> None:
    """Alone with the keys before it, and among all the others."""
    rows, _, _, tokens, slots = shape
    query, keys, values = made(*shape, 64, dtype)
    together = attention(query, keys, values, [0] * rows, 0.125)
    for t in range(tokens):
        seen = slots - tokens + t + 1
        alone = attention(query[:, :, t : t + 1], keys[:, :, :seen], values[:, :, :seen], [0] * rows, 0.125)
        assert torch.equal(alone[:, 0], together[:, t])


def test_scores_far_apart_neither_overflow_nor_vanish() -> None:
    """Scores of ±10,000: the largest gets all the weight, wherever it stands among two pieces of keys."""
    query, keys = torch.zeros(1, 1, 1, 32), torch.zeros(1, 1, 130, 32)
    query[..., 0], keys[..., 0] = 100.0, -100.0
    values = torch.arange(130.0)[None, None, :, None].expand(-1, -1, -1, 32).contiguous()
    for best in (0, 63, 64, 129):
        changed = keys.clone()
        changed[0, 0, best, 0] = 100.0
        assert attention(query, changed, values, [0], 1.0).unique().tolist() == [best]


def test_what_does_not_go_together_is_refused() -> None:
    """Nothing is read beyond the cache: too few slots for the tokens, other sizes, dtypes, orders in memory."""
    query, keys, values = made(1, 4, 2, 3, 8, 32, torch.float32)
    turned = [x.transpose(2, 3).contiguous().transpose(2, 3) for x in (keys, values)]
    wrong = [
        (query, keys, values, [6]), (query, keys, values, [-1]), (query, keys, values, [0, 0]),
        (query, keys, values[:, :, :7], [0]), (query[:, :3], keys, values, [0]), (query, keys.bfloat16(), values, [0]),
        (query[..., :16], keys, values, [0]), (query, *turned, [0]),
        (query[:0], keys[:0], values[:0], []), (query, keys[:, :0], values[:, :0], [0]),
        (query, keys.to("meta"), values.to("meta"), [0]), (query.clone().requires_grad_(), keys, values, [0]),
        *((*(x.to(dtype) for x in (query, keys, values)), [0]) for dtype in (torch.float16, torch.float64)),
        *((*made(1, 4, 2, 3, 8, size, torch.float32), [0]) for size in (0, 40, 512)),
    ]  # fmt: skip
    for these in wrong:
        with pytest.raises(ValueError, match="query: "):
            attention(*these, 1.0)
    for scale in (0.0, -1.0):
        with pytest.raises(ValueError, match="query: "):
            attention(query, keys, values, [0], scale)


def test_a_block_is_ours_where_its_layers_are_and_its_heads_fit() -> None:
    """Heads of 8 numbers stay with torch, and so does a model whose layers do."""
    small, large = tiny_llama(), tiny_llama(head_size=32)
    assert not attends(large.model.layers[0].self_attn)
    for model in (small, large):
        use(model, whole=True)
    assert [attends(model.model.layers[0].self_attn) for model in (small, large)] == [False, True]


def test_rows_of_unlike_length_and_a_window_agree_with_torch() -> None:
    """The lengths of a batch, and a cache that shows fewer slots than it holds, arrive."""
    model = tiny_llama(head_size=32)
    texts = [[5, 6, 7, 5, 6, 7, 5], [9, 8, 9, 8], [3]]

    def outputs() -> list[object]:
        target = Target(model)
        batch = decode(target, texts, max_tokens=12, drafter=Lookup())
        cache: KVCache = WindowCache(target, 1, 20, window=4, sink=1)
        with torch.inference_mode():
            states = [target.run(torch.tensor([[token]]), [at], cache).hidden for at, token in enumerate(range(3, 15))]
        return [[text.tokens for text in batch], torch.cat(states)]

    before = outputs()
    use(model, whole=True)
    after = outputs()
    assert before[0] == after[0]
    torch.testing.assert_close(before[1], after[1], atol=1e-4, rtol=1e-4)
