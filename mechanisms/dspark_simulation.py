"""The three length policies drawn many times: the counts that stand beside the exact law.

Teaches: that a frequency can show a bias and cannot prove its absence. The hindsight policy is the negative control.
Leaves out: everything after the first token.
"""

from __future__ import annotations

import numpy as np

from mechanisms.distribution import Pair
from mechanisms.dspark_presets import Example
from mechanisms.dspark_selection import Policy, lengths
from mechanisms.rejection_sampling import Check, judged

MAX_DRAWS = 1_000_000


def draw(example: Example, policy: Policy, draws: int, *, seed: int) -> Check:
    """Draw first tokens under a policy and test their counts against p. draws: 1 … 1,000,000.

    Each round draws a draft from q, asks the policy for its length and then verifies it or samples the target.

    >>> from mechanisms.dspark_presets import EXAMPLES
    >>> draw(EXAMPLES["small"], "hindsight", 1000, seed=1).p_value < 1e-9
    True
    """
    if not 1 <= draws <= MAX_DRAWS:
        raise ValueError(f"draws={draws}: must lie in 1 … {MAX_DRAWS}")
    rng = np.random.default_rng(seed)
    p, q = (np.array([float(x) for x in row]) for row in (example.p, example.q))
    ratio = np.divide(p, q, out=np.zeros_like(p), where=q > 0)
    surplus = np.maximum(p - q, 0)
    drafts = _sample(q, draws, rng)
    verified = np.array(lengths(example, policy))[drafts] >= 1
    passed = verified & (rng.random(draws) < np.minimum(1, ratio)[drafts])
    output = np.where(passed, drafts, -1)
    failed = verified & ~passed
    if failed.any():
        output[failed] = _sample(surplus / surplus.sum(), int(failed.sum()), rng)
    output[~verified] = _sample(p, int((~verified).sum()), rng)
    counts = np.bincount(output, minlength=len(p))
    pair = Pair(example.tokens, example.p, example.q)
    return judged(pair, counts, rule=policy, seed=seed, accepted=int(passed.sum()))


def _sample(law: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    edges = np.cumsum(law)
    edges[np.flatnonzero(law)[-1] :] = 1.0  # the last token with mass ends at exactly 1
    return np.searchsorted(edges, rng.random(n), side="right")
