"""The array scheduler beside a plain-Python loop on the same batch: `python -m tests.bench_scheduler`.

4,096 requests of eight drafts, one curve, both in this process; prints the median of each and their ratio.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import numpy as np

from mechanisms.dspark_scheduler import schedule

REQUESTS, DRAFTS = 4096, 8


def batch(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Random rates, and a curve that falls so slowly that neither side stops early."""
    rng = np.random.default_rng(seed)
    return rng.beta(4, 1, (REQUESTS, DRAFTS)), 1 / (1 + np.arange(1, REQUESTS * (1 + DRAFTS) + 1) / 1e9)


def median_ms(run: Callable[[], object], repeats: int) -> float:
    run()
    spent = []
    for _ in range(repeats):
        start = time.perf_counter()
        run()
        spent.append(time.perf_counter() - start)
    return 1000 * statistics.median(spent)


def plain_loop(rates: list[list[float]], sps: list[float]) -> list[int]:
    """Algorithm 1 without numpy, as one would write it with care: no copy of the lengths at each admission."""
    order, batch = [], len(rates)
    for r, row in enumerate(rates):
        a = 1.0
        for j, c in enumerate(row):
            a *= c
            if a > 0:
                order.append((-a, j, r))
    order.sort()
    tokens, best, kept = float(batch), batch * sps[batch], 0
    for admitted, (a, _, _) in enumerate(order, 1):
        tokens -= a
        theta = tokens * sps[batch + admitted]
        if theta <= best:
            break
        best, kept = theta, admitted
    lengths = [0] * batch
    for _, j, r in order[:kept]:
        lengths[r] = j + 1
    return lengths


def measure(repeats: int = 15) -> tuple[float, float]:
    """(array, plain loop) in milliseconds, early stop on, on the same numbers; the decisions are compared first."""
    rates, sps = batch()
    plain_rates, plain_sps = rates.tolist(), [0.0, *sps.tolist()]
    assert schedule(rates, sps, early=True).lengths.tolist() == plain_loop(plain_rates, plain_sps)
    array = median_ms(lambda: schedule(rates, sps, early=True), repeats * 5)
    return array, median_ms(lambda: plain_loop(plain_rates, plain_sps), repeats)


if __name__ == "__main__":
    array, loop = measure()
    print(f"{REQUESTS} x {DRAFTS}: array {array:.2f} ms, plain loop {loop:.1f} ms, ratio {loop / array:.0f}")
