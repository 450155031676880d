"""Compiled inner loops: plain data in, plain data out.

Rules of the house: every function is compiled by `certifit.loops._jit`, takes arrays and scalars only, calls only
functions of its own file (a cached loop does not notice a change in another file), owns no random state, and has
a slow twin in plain NumPy in its test. No bare ``fastmath=True``. Methods of arrays that can raise (``v[:k] = u``,
``v.min()``) take a second or two to compile for their messages: a small loop is cheaper.

On small tables a loop under ``@tiered`` runs as plain Python until compiling pays (`certifit.loops._tiers`); while one
is compiled for longer than a second, a line on stderr says so (`certifit.loops._announce`).
"""

from certifit.loops import _announce as _announce
