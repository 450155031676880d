"""What every estimator answers on small and odd data sets, stored before a change and compared after it.

``python -m benchmarks.answers store FILE`` and ``python -m benchmarks.answers compare FILE``. Public names only, so
that the same script runs on an older tree.
"""
