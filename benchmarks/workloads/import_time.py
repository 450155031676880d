"""Cold start: importing the library, and the first fit, in a fresh process."""

import subprocess
import sys

from benchmarks.harness import Entry

WHAT = "import in a fresh process"
GOAL = "≤ 1× import sklearn"


def _fresh(code: str):
    return lambda: subprocess.run([sys.executable, "-c", code], check=True)


def entries() -> list[Entry]:
    data = "import numpy as np; X = np.arange(20.0).reshape(10, 2) ** 1.5; y = X[:, 0]; "
    ours = "from certifit.linear_model import Ridge; Ridge().fit(X, y).certificate_"
    theirs = "from sklearn.linear_model import Ridge; Ridge().fit(X, y)"
    return [
        Entry("import certifit", _fresh("import certifit"), kind="ours", repeats=7),
        Entry("import sklearn", _fresh("import sklearn"), repeats=7),
        Entry("certifit", _fresh(data + ours), kind="ours", note="with its certificate", case="first fit"),
        Entry("scikit-learn", _fresh(data + theirs), case="first fit"),
        Entry("python itself", _fresh("pass"), kind="floor", repeats=7),
    ]
