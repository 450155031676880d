"""The documentation site: Sphinx, Markdown pages, mathematics as MathML, nothing fetched from a network."""

import sys
import warnings
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))  # docs/_site
sys.path.insert(0, str(HERE.parent))  # benchmarks

import certifit  # noqa: E402

project = "certifit"
author = "The certifit developers"
copyright = "the certifit developers, BSD-3-Clause"  # noqa: A001  (the name is Sphinx's)
release = version = certifit.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_copybutton",
    "_site.mathml",
    "_site.pages",
    "_site.pictures",
    "_site.check",
]
myst_enable_extensions = ["dollarmath", "deflist", "attrs_block", "attrs_inline", "colon_fence"]
myst_heading_anchors = 3
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_build", "_site", "images", "pictures", "extra"]

autosummary_generate = False  # one page per family holds its names; see _site/pages.py
autodoc_typehints = "none"  # parameters are described in the docstrings
autodoc_default_options = {"members": True}
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_validation_checks: set[str] = set()

copybutton_prompt_text = r">>> |\.\.\. |\$ "  # what is copied can be run as it is
copybutton_prompt_is_regexp = True

html_theme = "furo"
html_title = "certifit"
html_static_path = ["_static"]
html_css_files = ["house.css"]
html_search_scorer = str(HERE / "_static" / "scorer.js")  # Sphinx opens it as it stands, from any folder
html_extra_path = ["extra"]
html_show_sphinx = False
html_copy_source = False
html_math_renderer = "mathml"
pygments_style, pygments_dark_style = "friendly", "native"
suppress_warnings = ["ref.python"]  # `certificates_` is an attribute of many classes

warnings.filterwarnings("ignore", category=DeprecationWarning)
