"""Experiments on the real model, one command each; what they find becomes records in `gpu_demos/results`."""
