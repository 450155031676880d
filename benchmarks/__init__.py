"""Workloads beside their peers; see `benchmarks.harness`."""
