"""Worked numbers that lesson prose and predictions quote by id: one module per topic, each with `VALUES`."""
