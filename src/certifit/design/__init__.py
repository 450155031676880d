"""X as solvers see it: dense or sparse, weighted, centred and scaled, behind one face.

No other folder asks how X is stored.
"""

from certifit.design._columns import Block, Columns
from certifit.design._compensated import compensated_product, compensated_product_t
from certifit.design._design import Design, Moments, as_design

__all__ = ["Block", "Columns", "Design", "Moments", "as_design", "compensated_product", "compensated_product_t"]
