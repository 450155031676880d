"""Arrow without pandas."""

from __future__ import annotations

import subprocess
import sys


def test_reading_loads_no_pandas_and_conversions_from_it_still_work():
    code = (
        "import sys\n"
        "import numpy as np\n"
        "from certifit._arrow import pa, without_pandas\n"
        "from certifit.files import Table\n"
        "without_pandas()\n"
        "table = Table.of({'a': np.array([1.0, np.nan]), 'b': ['x', 'y']})\n"
        "print(table.arrow.column('a').null_count, 'pandas' in sys.modules)\n"
        "import pandas\n"
        "frame = pandas.DataFrame({'a': [1.0, np.nan], 'c': pandas.Categorical(['x', 'y'])})\n"
        "print(Table.of(frame).arrow.column('a').null_count, Table.of(frame).columns == ('a', 'c'))\n"
        "without_pandas()\n"
        "print(pa.array(frame['c']).type.value_type, sys.meta_path[0].__class__.__name__ != '_Refused')\n"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    first, second, third = found.stdout.splitlines()
    assert (first, second) == ("1 False", "1 True")
    assert third.endswith("string True")
