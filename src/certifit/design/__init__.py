"""X as solvers see it: dense or sparse, weighted, centred and scaled, behind one face; and Gram matrices by blocks.

No other folder asks how X is stored.
"""

from certifit.design._columns import Block, CentredColumns
from certifit.design._compensated import add_to_pair, compensated_product, compensated_product_t
from certifit.design._coordinates import Coordinates
from certifit.design._design import Design, GramSums, Moments, MomentSums, as_design
from certifit.design._fingerprint import fingerprint, look
from certifit.design._folds import Cells, Fold, FoldMoments, FoldSums, FoldTable
from certifit.design._gram_blocks import Blocks, TwiceBlocks, WholeBlocks, blocks
from certifit.design._gram_pass import GramBeside, GramSum, compiled_loop_suits, gram_pass, many_products, read_only
from certifit.design._linalg import (
    OVERFLOW,
    Cholesky,
    PseudoInverse,
    cholesky,
    lifted_cholesky,
    powers_of_two,
    pseudo_inverse,
)

__all__ = [
    "OVERFLOW",
    "Block",
    "Blocks",
    "Cells",
    "Cholesky",
    "CentredColumns",
    "Coordinates",
    "Design",
    "Fold",
    "FoldMoments",
    "FoldSums",
    "FoldTable",
    "GramBeside",
    "GramSum",
    "MomentSums",
    "GramSums",
    "Moments",
    "PseudoInverse",
    "TwiceBlocks",
    "WholeBlocks",
    "add_to_pair",
    "as_design",
    "blocks",
    "cholesky",
    "compiled_loop_suits",
    "compensated_product",
    "compensated_product_t",
    "fingerprint",
    "gram_pass",
    "look",
    "lifted_cholesky",
    "many_products",
    "powers_of_two",
    "pseudo_inverse",
    "read_only",
]
