"""Pretend hardware: GPUs and their hosts, as data."""
