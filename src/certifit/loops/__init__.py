"""Compiled inner loops: plain data in, plain data out.

Rules of the house: every function is cached (``@njit(cache=True)``), takes arrays and scalars only, calls only
functions of its own file (a cached loop does not notice a change in another file), owns no random state, and has
a slow twin in plain NumPy in its test. No bare ``fastmath=True``.
"""
