"""Proof files that every later checker must go on proving; ``python -m tests.proofs`` adds those that are missing."""
