"""Attacks on certificates: forged evidence, forged words, odd data."""
