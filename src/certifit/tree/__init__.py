"""Decision trees: exact greedy growing, pruning chosen by cross-validation, and readable output.

The names are scikit-learn's; every fit carries a certificate that at each node no other allowed split
gains more, and after pruning that no other pruning costs less.
"""

from certifit._passing import pass_on
from certifit.tree._classes import DecisionTreeClassifier, DecisionTreeRegressor
from certifit.tree._export import Explanation, export_text
from certifit.tree._id3 import MultiwayNode, MultiwayTree, id3
from certifit.tree._information import entropy, gini, information_content, information_gain
from certifit.tree._plot import draw_tree, plot_tree
from certifit.tree._to_sklearn import to_sklearn

__all__ = [
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "Explanation",
    "MultiwayNode",
    "MultiwayTree",
    "draw_tree",
    "entropy",
    "export_text",
    "gini",
    "id3",
    "information_content",
    "information_gain",
    "plot_tree",
    "to_sklearn",
]

__getattr__, __dir__ = pass_on(__name__, "sklearn.tree")
