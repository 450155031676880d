"""Worked examples: each module tells a story (`run`), returns its numbers, and draws them (`draw`)."""
