"""Every kind of certificate under attack: forged evidence is refused, or what it then claims is true.

Run with ``-s`` to see how many attacks were refused and how many made another, true claim.
"""

import pytest

from certifit.certificates import kinds
from certifit.certificates._proof_file import PROVED
from tests.attacks.cases import all_cases
from tests.attacks.judges import JUDGES
from tests.attacks.siege import besiege, refused_by_checker


def test_every_kind_is_attacked_and_judged():
    assert set(all_cases()) == set(kinds())
    assert set(kinds()) <= set(JUDGES) | set(PROVED)


@pytest.mark.parametrize("kind", sorted(PROVED))
def test_the_checker_proves_the_honest_cases(kind):
    for case in all_cases()[kind]:
        assert refused_by_checker(case.certificate, case.X, case.y, case.sample_weight) is None


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
