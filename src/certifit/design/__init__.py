"""X as solvers see it: dense or sparse, weighted, centred and scaled, behind one face.

No other folder asks how X is stored.
"""

from certifit.design._columns import Block, Columns
from certifit.design._compensated import add_to_pair, compensated_product, compensated_product_t
from certifit.design._coordinates import Coordinates
from certifit.design._design import Design, Moments, as_design
from certifit.design._linalg import Cholesky, PseudoInverse, cholesky, one_thread, pseudo_inverse
from certifit.design._rows import side_by_side, sum_over_rows

__all__ = [
    "Block",
    "Cholesky",
    "Columns",
    "Coordinates",
    "Design",
    "Moments",
    "PseudoInverse",
    "add_to_pair",
    "as_design",
    "cholesky",
    "compensated_product",
    "compensated_product_t",
    "one_thread",
    "pseudo_inverse",
    "side_by_side",
    "sum_over_rows",
]
