"""Worlds → verdict: what decides, and what was assumed."""
