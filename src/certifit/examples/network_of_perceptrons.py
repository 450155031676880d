"""Perceptrons combined: XOR with two layers, proved by its truth table.

One perceptron cannot compute XOR, because no line separates its two classes. Two hidden perceptrons, each of
which recognises one row of the truth table, and a third that fires if either of them does, can. The whole truth table
is the proof. A network that learns the same function by its gradient also gets it right, and around each corner a
square can be proved within which no point gets another label.
"""

from collections.abc import Callable

import numpy as np

from certifit._types import Figure, Record
from certifit.neural import MLPClassifier, PerceptronNetwork
from certifit.plot import decision_regions, palette

CORNERS = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
XOR = np.array([0, 1, 1, 0])


def run(say: Callable[[str], None] = print) -> Record:
    """Build the network, prove it, then learn one and bound where its labels hold."""
    built = PerceptronNetwork.from_truth_table(XOR)
    proof = built.certify(XOR)
    for corner, hidden in zip(CORNERS.astype(int), built.layers(CORNERS)[0]):
        say(f"{corner.tolist()}: hidden units {hidden.tolist()}, output {int(built.predict(corner)[0])}")
    say(str(proof))
    learned = MLPClassifier((4,), activation="tanh", random_state=0, max_iter=1000).fit(CORNERS, XOR)
    radius = learned.certified_radius(CORNERS)
    say(f"The learned network predicts {learned.predict(CORNERS).tolist()}; {learned.certificate_.claim}")
    say(f"Its labels do not change within {', '.join(f'{r:.3f}' for r in radius)} of the corners: proved.")
    return {"built": built, "proof": proof, "learned": learned, "radius": radius}


def draw(numbers: Record) -> Figure:
    """Left the lines of the two hidden perceptrons, right the learned regions with the proved squares."""
    import matplotlib.pyplot as plt
    from matplotlib.patches import Rectangle

    figure, (left, right) = plt.subplots(1, 2, figsize=(7.5, 3.6), layout="constrained")
    built = numbers["built"]
    at = np.linspace(-0.5, 1.5, 2)
    for w, b in zip(built.coefs[0].T, built.intercepts[0]):
        left.plot(at, -(b + w[0] * at) / w[1], color=palette().ink)
    for c, marker in ((0, "o"), (1, "s")):
        left.plot(*CORNERS[c == XOR].T, marker, ms=10, ls="none", label=f"xor = {c}")
    left.set(
        xlim=(-0.5, 1.5), ylim=(-0.5, 1.5), xlabel="x₁", ylabel="x₂", aspect="equal", title="Two hidden perceptrons"
    )
    # Beside the plane: marks inside it would be taken for points.
    left.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=8)
    decision_regions(numbers["learned"], CORNERS, XOR, ax=right)
    for (x, z), r in zip(CORNERS, numbers["radius"]):
        right.add_patch(Rectangle((x - r, z - r), 2 * r, 2 * r, fill=False, edgecolor=palette().ink))
    right.get_legend().remove()
    right.set_title("Learned, with proved squares")
    return figure
