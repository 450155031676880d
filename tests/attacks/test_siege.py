"""Every kind of certificate under attack: forged evidence is refused, or what it then claims is true.

Run with ``-s`` to see how many attacks were refused and how many made another, true claim.
"""

import pytest

from certifit.certificates import kinds
from tests.attacks.cases import all_cases
from tests.attacks.siege import besiege


def test_every_kind_is_attacked():
    assert set(all_cases()) == set(kinds())


@pytest.mark.parametrize("kind", kinds())
def test_no_forgery_stands(kind):
    tally = besiege(kind, 500)
    print(tally)
    assert not tally.broken, "\n".join([str(tally), *tally.broken[:20]])
    assert sum(tally.outcomes.values()) >= 500


@pytest.mark.slow
@pytest.mark.parametrize("kind", kinds())
def test_no_forgery_stands_in_a_long_siege(kind):
    tally = besiege(kind, 50_000, seed=1)
    print(tally)
    assert not tally.broken, "\n".join([str(tally), *tally.broken[:20]])
