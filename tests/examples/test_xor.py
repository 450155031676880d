"""Worked example 3: not separable in the plane, separable with the product."""

import numpy as np

from certifit.examples import xor


def test_verdicts_and_the_meeting_point():
    r = xor.run(lambda line: None)
    assert r["verdicts"] == {
        "plane": "overlapping",
        "with the product": "separable",
        "with the product, through the origin": "touching",  # (0, 0, 0) lies on every plane through the origin
        "-1/+1 with the product, through the origin": "separable",
    }
    assert all(s.holds for s in r["answers"].values())
    np.testing.assert_allclose(r["meeting"], 0.5)
    np.testing.assert_allclose(r["answers"]["plane"].multipliers, 0.25)
    assert xor.draw(r).axes
