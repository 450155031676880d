"""What a notebook shows: a sentence, its mark and figures, never an array; nothing that a table of a user could inject."""

from html.parser import HTMLParser

import numpy as np
import pytest

import certifit as cf
from certifit import _notebook
from certifit.linear_model import LinearRegression, Perceptron, Ridge
from certifit.model_selection import Search, compare

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(60, 3)), RNG.normal(size=60)


class _Balanced(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.open, self.tags = [], []
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def _shown():
    fit = LinearRegression().fit(X, Y)
    certificate = fit.certificate_
    return {
        "certificate": (certificate, certificate.claim),
        "refused": (certificate.verify(X, Y + 1), "not the data"),
        "verification": (certificate.verify(X, Y), "recomputed"),
        "separability": (cf.separability([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]), "Overlapping"),
        "summary": (fit.summary(), "intercept"),
        "comparison": (compare({"a": Ridge(), "b": Ridge(1e6)}, X, Y, cv=3), "mean score"),
        "trace": (Perceptron(trace=True, shuffle=False).fit([[1.0], [-1.0]], [1, -1]).trace_, "iteration"),
    }


@pytest.mark.parametrize("name", list(_shown()))
def test_results_show_themselves(name):
    thing, words = _shown()[name]
    page = thing._repr_html_()
    seen = _Balanced(page)
    assert _notebook.html.escape(words) in page
    assert "script" not in seen.tags
    assert "array(" not in page
    assert "array(" not in repr(thing)


def test_marks_say_whether_it_is_proved():
    certificate = Ridge().fit(X, Y).certificate_
    assert "✓ proved" in certificate._repr_html_()
    assert repr(certificate) == f"<Certificate: {certificate.claim}>"
    assert "✗ not proved" in certificate.verify(X, Y + 1)._repr_html_()


def test_a_search_keeps_the_diagram_and_says_what_it_chose():
    search = Search(Ridge(), {"alpha": [0.1, 1.0]}, cv=3)
    assert "chosen" not in search._repr_mimebundle_()["text/html"].split("<style", 1)[0]
    page = search.fit(X, Y)._repr_mimebundle_()["text/html"]
    assert page.index("chosen alpha") < page.index("sk-container")


def test_marimo_shows_what_a_search_chose():
    search = Search(Ridge(), {"alpha": [0.1, 1.0]}, cv=3)
    assert "Search(" in search._display_()._repr_html_()
    seen = _Balanced(page := search.fit(X, Y)._display_()._repr_html_())
    assert "chosen alpha" in page
    assert "Ridge(" in page
    assert not {"script", "style"} & set(seen.tags)  # marimo would put those into a white frame


def test_names_of_columns_are_escaped():
    pandas = pytest.importorskip("pandas")
    fit = LinearRegression().fit(pandas.DataFrame(X, columns=["<script>x</script>", "b", "c"]), Y)
    assert "script" not in _Balanced(fit.summary()._repr_html_()).tags
