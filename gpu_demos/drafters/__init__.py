"""Drafters: each proposes tokens for `gpu_demos.decoding.decode`, see `Drafter` in `gpu_demos.decoding_types`."""
