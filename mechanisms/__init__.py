"""Exact mechanisms of quantization and speculative decoding: pure functions, one module per topic."""
