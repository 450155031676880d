"""Tables larger than memory, measured: ``make bench-scale`` (a target of its own, because it needs 10 GB of disk)."""
