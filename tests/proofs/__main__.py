"""Write a proof file and its table for each small case that has none yet. Stored ones are never written again."""

from pathlib import Path

import numpy as np

from tests.proof_cases import CASES

HERE = Path(__file__).parent

if __name__ == "__main__":
    for name, make in CASES.items():
        stem = name.replace(", ", "-").replace(" ", "-")
        if not (HERE / f"{stem}.proof").exists():
            make(np.random.default_rng(7)).write(HERE, stem)
            print(stem)
