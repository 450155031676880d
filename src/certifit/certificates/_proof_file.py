"""The proof file: a certificate as JSON that `checker.py`, or anybody's own checker, reads; and the table beside it.

The format is documented on the page "The proof file". Floats are hexadecimal strings, so that no digit depends on how
a program prints or reads decimals; ``figures`` holds only what the checker proves; what the library itself needs to
rebuild the certificate stands under ``library``.
"""

from __future__ import annotations

import csv
import io
import json
import math
import os
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse

from certifit._atomic import write_atomic
from certifit._types import Matrix, Named, Record, VectorLike, Weights
from certifit.certificates._data import Data, Evidence
from certifit.certificates._record import Certificate
from certifit.exceptions import CertifitError
from certifit.losses._families import BUILT_IN, LINKS

FORMAT, VERSION = "certifit-proof", 1

_OPTIMALITY = ("value", "bound", "gap", "excess")
PROVED = {
    "class-centres": ("rows", "classes", "gap"),
    "cluster-sums": (*_OPTIMALITY, "clusters", "reassignment_gain", "centre_gain", "rows"),
    "clustering": (*_OPTIMALITY, "clusters", "bound_method", "reassignment_gain", "centre_gain", "move_gain"),
    "complement-counts": ("error", "rows", "classes"),
    "complement-sums": ("error", "rows", "classes"),
    "component-sums": ("components", "value", "bound", "gap", "relative_gap", "reconstruction_error"),
    "condensed-neighbors": ("rows", "prototypes", "agreeing"),
    "conjugate-posterior": ("error", "observations"),
    "constant": ("value", "gap", "rows"),
    "counted-sums": ("gradient", "sum_error", "prior_error", "rows"),
    "cross-validation": ("mean", "low", "high", "standard_error", "folds", "level"),
    "duality": _OPTIMALITY,
    "edited-neighbors": ("rows", "kept", "neighbors"),
    "evidence-maximum": ("sigma_error", "slope", "effective_parameters"),
    "finite-bayes": ("log_evidence", "error", "sum_error", "observations"),
    "finite-horizon": ("states", "horizon", "discount", "loss"),
    "gaussian-counts": ("mean_error", "variance_error", "prior_error", "rows"),
    "gaussian-sums": ("mean_error", "variance_error", "prior_error", "rows"),
    "hard-margin": ("value", "bound", "gap", "relative_gap"),
    "harmonic-labels": ("rows", "labelled", "unreached", "error", "certain"),
    "histogram": ("cells", "outside", "error"),
    "hold-out": ("mistakes", "rows", "error_rate", "low", "high", "level"),
    "isotonic": ("value", "gap", "relative_gap", "rows"),
    "kernel-density": ("points", "kernel", "bandwidth", "width"),
    "kernel-perceptron": ("value", "separated", "bound"),
    "least-squares": _OPTIMALITY,
    "likelihood-equations": ("rows", "statistics", "residual"),
    "local": _OPTIMALITY,
    "margin-sums": (*_OPTIMALITY, "rows", "columns"),
    "maximum-likelihood": ("error", "rows"),
    "mercer": ("method", "verdict", "least_eigenvalue"),
    "mixed-counts": ("mean_error", "variance_error", "gradient", "sum_error", "prior_error", "rows"),
    "mixed-sums": ("mean_error", "variance_error", "gradient", "sum_error", "prior_error", "rows"),
    "moments": (*_OPTIMALITY, "rows", "columns"),
    "neighbors": ("queries", "neighbors"),
    "neighbors-given-distances": ("queries", "neighbors"),
    "network-gradient": ("value", "gradient", "parameters"),
    "network-radius": ("rows", "certain", "least"),
    "no-margin": ("bound", "rows", "radius"),
    "passes": (*_OPTIMALITY, "rows", "columns"),
    "perceptron": ("verdict", "value", "bound"),
    "policy": ("states", "discount", "loss", "width"),
    "principal-components": ("components", "value", "bound", "gap", "relative_gap", "reconstruction_error"),
    "radius-neighbors": ("queries", "radius", "fewest", "most"),
    "separability": ("verdict", "classes", "witnesses", "on_the_boundary", "margin", "mistake_bound"),
    "smoothed-counts": ("gradient", "sum_error", "prior_error", "rows"),
    "stationary": ("value", "residual"),
    "stored-rows": ("rows", "distinct", "unavoidable"),
    "training-errors": ("value", "rows", "error_rate"),
    "tree": ("questions", "leaves", "shortfall", "impurity", "pruning_shortfall", "validation_loss"),
    "tree-general": ("questions", "leaves", "outputs", "shortfall", "pruning_shortfall"),
    "truth-table": ("inputs", "rows", "units", "right"),
}
"""The figures of each kind that the checker proves."""

_LOSSES = {
    "absolute": "|z − y|",
    "epsilon_insensitive": "max(0, |z − y| − ε)",
    "squared_epsilon_insensitive": "max(0, |z − y| − ε)²",
    "binomial": "log(1 + exp(z)) − y z + y log y + (1 − y) log(1 − y)",
    "exponential": "exp(−y z)",
    "gamma_log": "y exp(−z) + z − log y − 1",
    "hinge": "max(0, 1 − y z)",
    "logistic": "log(1 + exp(−y z))",
    "multiclass_hinge": "max over k of (z_k + [k ≠ y]) − z_y",
    "perceptron": "max(0, −y z)",
    "poisson": "exp(z) − y z + y log y − y",
    "softmax": "log Σ exp(z_k) − z_y",
    "squared": "c (z − y)²",
    "squared_hinge": "max(0, 1 − y z)²",
}
_PENALTIES = {
    "column_norms": "Σ_j ρ ‖W_j‖ + ½ (1 − ρ) ‖W_j‖² over the columns of W",
    "elastic": "ρ ‖w‖₁ + ½ (1 − ρ) ‖w‖²",
    "l1": "‖w‖₁",
    "l2": "c ‖w − w₀‖²",
    "none": "0",
    "non_negative": "the base penalty, with w ≥ 0",
    "p_norm": "‖w‖_p",
}
_KERNELS = ("linear", "polynomial", "rbf", "sum", "product", "scaled", "normalized", "given", "precomputed")


def proof_of(certificate: Certificate) -> str:
    """The text of a proof file; refused with one sentence where no checker could prove the claim."""
    why = _beyond(certificate)
    if why:
        raise CertifitError(why)
    figures = {
        k: v for k, v in certificate.figures.items() if k in PROVED[certificate.kind] and _definite(certificate.kind, v)
    }
    if PROVED[certificate.kind][:4] == _OPTIMALITY and certificate.kind != "clustering" and _rounded(figures):
        del figures["value"]
    record = {
        "format": FORMAT,
        "version": VERSION,
        "kind": certificate.kind,
        "claim": certificate.claim,
        "theorem": certificate.theorem,
        "assumes": list(certificate.assumes),
        "data": {"sha256": certificate.digests["data"], **certificate.about, **_partitions(certificate)},
        "objective": objective_in_words(certificate.evidence),
        "figures": encoded(figures),
        "evidence": encoded(certificate.evidence),
        "library": {
            "figures": encoded(certificate.figures),
            "arrays": {k: _layout(v) for k, v in certificate.evidence.items() if isinstance(v, np.ndarray)},
            "evidence_sha256": certificate.digests["evidence"],
            "names": {k: v for k, v in certificate.digests.items() if k not in ("data", "evidence", "partitions")},
            "rigor": certificate.rigor,
        },
    }
    return json.dumps(record, ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def _partitions(certificate: Certificate) -> Record:
    """Names, rows and digests of the partitions of a table that lies in some."""
    parts = certificate.digests.get("partitions")
    return {} if parts is None else {"partitions": parts}


def load(path: str | os.PathLike[str]) -> Certificate:
    """The certificate in a proof file that `Certificate.save` wrote.

    Nothing in the file is trusted: `Certificate.verify` recomputes everything from the data.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    Certificate

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from certifit.linear_model import Lasso
    >>> X, y = np.array([[0.0], [1.0], [2.0]]), np.array([1.0, 3.0, 5.5])
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "fit.proof"
    >>> Lasso(alpha=0.1).fit(X, y).certificate_.save(path)
    >>> again = load(path)
    >>> again.verify(X, y).holds, again.verify(X, y + 1.0).reason
    (True, 'These are not the data that the certificate is about.')
    """
    try:
        record = json.loads(Path(path).read_text(encoding="utf-8"), object_pairs_hook=_once)
        if record["format"] != FORMAT or record["version"] != VERSION:
            raise ValueError(f"format {record['format']} of version {record['version']}")
        return _certificate(record)
    except (AttributeError, KeyError, OverflowError, RecursionError, TypeError, ValueError) as error:
        raise CertifitError(f"{path} is not a certifit proof of version {VERSION} ({error}).") from None


def _once(pairs: list[tuple[str, Any]]) -> Record:
    """A JSON object in which every name stands once: of two values a reader would see the one, and Python the other."""
    if len(dict(pairs)) != len(pairs):
        raise ValueError("a name stands twice in one object")
    return dict(pairs)


def _certificate(record: Named) -> Certificate:
    data, library = dict(record["data"]), record["library"]
    evidence = {k: decoded(v) for k, v in record["evidence"].items()}
    for name, (dtype, shape) in library["arrays"].items():
        kind = np.dtype(object) if dtype == "object" else np.dtype(dtype)
        found = np.array(evidence[name], dtype=object if dtype == "object" else None)
        if found.size and found.dtype.kind != kind.kind.replace("u", "i"):
            raise ValueError(f"{name} holds other things than {kind}")
        evidence[name] = np.array(evidence[name], dtype=kind).reshape([int(k) for k in shape])
    return Certificate(
        kind=record["kind"],
        claim=record["claim"],
        theorem=record["theorem"],
        holds=True,
        figures={k: decoded(v) for k, v in {**library["figures"], **record["figures"]}.items()},
        evidence=evidence,
        assumes=tuple(record["assumes"]),
        digests={
            "data": data.pop("sha256"),
            "evidence": library["evidence_sha256"],
            **({"partitions": data.pop("partitions")} if "partitions" in data else {}),
            **library.get("names", {}),
        },
        rigor=library["rigor"],
        about=data,
    )


def write_table(
    path: str | os.PathLike[str],
    X: Matrix,
    y: VectorLike | None = None,
    sample_weight: Weights = None,
    offset: npt.ArrayLike | None = None,
) -> None:
    """Write data as the CSV file that the checker reads.

    The header is ``x0, x1, …``, then ``y`` (``y0, y1, …`` for several targets), ``weight`` and ``offset``. A number is
    the shortest text that reads back as the same float; strings are quoted.

    Parameters
    ----------
    path : str or path
    X : array-like, sparse matrix or data frame of shape (n, d)
    y : array-like of shape (n,) or (n, t), default=None
    sample_weight, offset : array-like of shape (n,), default=None

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "data.csv"
    >>> write_table(path, [[1.0, 0.1], [2.0, 0.2]], ["no", "yes"])
    >>> print(path.read_text())
    "x0","x1","y"
    1.0,0.1,"no"
    2.0,0.2,"yes"
    """
    data = Data.of(X, y, sample_weight, offset)
    table = data.X.toarray() if scipy.sparse.issparse(data.X) else data.X
    columns = {f"x{j}": table[:, j] for j in range(table.shape[1])}
    if data.y is not None:
        columns |= {"y": data.y} if data.y.ndim == 1 else {f"y{k}": column for k, column in enumerate(data.y.T)}
    columns |= {k: v for k, v in (("weight", data.sample_weight), ("offset", data.offset)) if v is not None}
    text = io.StringIO()
    writer = csv.writer(text, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([_cell(v) for v in row] for row in zip(*(c.tolist() for c in columns.values())))
    write_atomic(path, text.getvalue().encode())


def _cell(v: object) -> float | str:
    return float(v) if isinstance(v, (bool, int, float)) else str(v)


# -- numbers and words ------------------------------------------------------------------------------------------------
_ODD = re.compile(r"'.*|-?(0x[01]\.?[0-9a-f]*p[+-][0-9]+|inf)|nan", re.DOTALL)


def encoded(v: Any) -> Any:
    """Floats as hexadecimal strings; words that look like one behind an apostrophe; arrays as nested lists."""
    if isinstance(v, np.ndarray):
        return encoded(v.tolist())
    if isinstance(v, float):
        return v.hex()
    if isinstance(v, str):
        return f"'{v}" if _ODD.fullmatch(v) else v
    if isinstance(v, Mapping):
        return {k: encoded(x) for k, x in v.items()}
    return [encoded(x) for x in v] if isinstance(v, (list, tuple)) else v


def decoded(v: Any) -> Any:
    """The inverse of `encoded`, but for arrays."""
    if isinstance(v, float):
        raise ValueError("a float that is not written in hexadecimal")
    if isinstance(v, str) and _ODD.fullmatch(v):
        return v[1:] if v[0] == "'" else float.fromhex(v)
    if isinstance(v, Mapping):
        return {k: decoded(x) for k, x in v.items()}
    return [decoded(x) for x in v] if isinstance(v, list) else v


def _layout(v: np.ndarray) -> list[Any]:
    return ["object" if v.dtype.kind == "O" else v.dtype.str, list(v.shape)]


def _definite(kind: str, v: object) -> bool:
    """Whether a figure says something: an infinite bound does not, unless a perceptron never stops."""
    return not isinstance(v, float) or math.isfinite(v) or (kind == "perceptron" and v == math.inf)


def _rounded(figures: Named) -> bool:
    """Whether rounding leaves the objective's value open by more than 1e-9 of it, which is what a checker grants.

    The bound is the lowest value that rounding allows, less the gap: what lies between is the rounding, unless it is
    lost beside a gap of many times the value.
    """
    value, bound, gap = (figures.get(name, 0.0) for name in ("value", "bound", "gap"))
    open_by = max(abs(value - bound - gap), 2.0**-52 * gap)
    return "value" in figures and open_by > 0.5e-9 * abs(value)


# -- what is claimed --------------------------------------------------------------------------------------------------
def objective_in_words(evidence: Evidence) -> Record | None:
    """The objective of an optimality claim for people: the checker reads the one in the evidence."""
    record = evidence.get("objective")
    first = record[0] if isinstance(record, list) and record else record
    if not isinstance(first, Mapping):
        return None
    loss, penalty = first["loss"], first["regularizer"]
    where = "in the kernel's features" if "kernel" in evidence or "gram" in evidence else "of the columns"
    words = f"the {'mean' if first['stated'] == 'mean' else 'sum'} of {loss['name']} losses"
    if penalty["name"] != "none":
        words += f", plus the penalty {penalty['name']} of strength {first['strength']!r} for the sum"
    offset = "an offset b" if first["fit_intercept"] else "no offset"
    offset += ", penalised like a coefficient" if first["padding"] is not None else ""
    symbols = {
        "F": "Σ_i s_i L(z_i, y_i) + Λ R(w)" + (", divided by Σ_i s_i" if first["stated"] == "mean" else ""),
        "z": "w·x + b" + (" + known offset" if first["offset"] else ""),
        "L": _LOSSES.get(loss["name"], loss["name"]),
        "R": _PENALTIES.get(penalty["name"], penalty["name"]),
    }
    return {"words": f"{words}, with {offset}, {where}", "symbols": symbols}


def _beyond(certificate: Certificate) -> str:
    """Why no checker could prove this claim; empty where it can."""
    kind = certificate.kind
    if kind not in PROVED:
        return (
            f"There is no proof file for certificates of kind {kind!r}: the checker knows {', '.join(sorted(PROVED))}."
        )
    if not certificate.holds:
        return f"This certificate does not hold ({'; '.join(certificate.failures)}): there is nothing to save."
    if not certificate.about:
        return "This certificate was issued by an older version, which did not note the shape of the data: fit again."
    why = _LIMITS[kind](certificate.evidence) if kind in _LIMITS else ""
    if kind == "tree" and certificate.figures["heuristic"]:
        why = "some groupings of categories were chosen by a heuristic and not compared"
    if kind == "policy" and certificate.rigor == "exact":
        why = "the checker bounds the loss by the stated values, and does not solve for them in rationals"
    return f"No proof file is written: {why}. The library's own verify checks it." if why else ""


def _optimality_limit(evidence: Evidence) -> str:
    record = evidence["objective"]
    if isinstance(record, list) and record[0]["classes"] is not None:
        return "the checker does not know machines with costs of their own"
    for o in record if isinstance(record, list) else [record]:
        base = o["regularizer"]["params"].get("base", o["regularizer"])
        for what, name, known in (("loss", o["loss"]["name"], _LOSSES), ("penalty", base["name"], _PENALTIES)):
            if name not in known:
                return f"the checker does not know the {what} {name!r}"
    return _kernel_limit(evidence)


def _kernel_limit(evidence: Evidence) -> str:
    unknown = [name for name in _names(evidence.get("kernel", ["given"])) if name not in _KERNELS]
    return f"the checker does not know the kernel {unknown[0]!r}" if unknown else ""


def _names(record: Any) -> Iterable[str]:
    yield str(record[0])
    for part in record[1:]:
        if isinstance(part, (list, tuple)):
            yield from _names(part)


def _tree_limit(evidence: Evidence) -> str:
    return "the checker does not know columns with a direction" if evidence.get("monotonic") is not None else ""


def _perceptron_limit(evidence: Evidence) -> str:
    started = any(np.any(np.asarray(v)) for k, v in evidence.items() if k.startswith("start_"))
    weighted = any(np.any(np.asarray(v) != 1.0) for k, v in evidence.items() if k.startswith("class_weights_"))
    return "the checker does not know class weights, or a start other than zero" if started or weighted else ""


def _neighbors_limit(evidence: Evidence) -> str:
    p = float(evidence.get("p", 2.0))
    odd = evidence["metric"] == "minkowski" and not (p == int(p) and 1 <= p < 99)
    return f"the checker raises distances to whole powers only, not to {p:g}" if odd else ""


def _mercer_limit(evidence: Evidence) -> str:
    if evidence["method"] == "none":
        return "nothing was decided"
    return _kernel_limit(evidence)


def _gaussian_limit(evidence: Evidence) -> str:
    none = not np.all(np.asarray(evidence["var"], dtype=float) > 0.0)
    return "the checker measures errors in standard deviations, and one of them is zero" if none else ""


def _mixed_limit(evidence: Evidence) -> str:
    """A class without any cell of a numeric column, and columns that never change, have variances by convention."""
    var = np.asarray(evidence.get("var", np.zeros((1, 0))), dtype=float)
    fixed = bool(np.any(np.all(var == 1.0, axis=0)))
    return "the checker does not know the convention for a numeric column that never changes" if fixed else ""


def _family_limit(evidence: Evidence) -> str:
    record = evidence["objective"]
    loss = (record[0] if isinstance(record, list) else record)["loss"]
    family, link = (loss["params"][name] for name in ("family", "link"))
    if family not in (*BUILT_IN, "negative_binomial", "tweedie"):
        return f"the checker does not know the family {family!r}"
    return f"the checker does not know the link {link!r}" if link not in LINKS else ""


def _density_limit(evidence: Evidence) -> str:
    wide = evidence["kernel"] == "cosine" and np.shape(evidence["points"])[-1] > _COSINE
    return f"the checker knows the cosine kernel in up to {_COSINE} columns" if wide else ""


def _graph_limit(evidence: Evidence) -> str:
    rows = len(evidence["scores"])
    return f"the checker takes graphs of up to {_GRAPH} rows, not of {rows}" if rows > _GRAPH else ""


def _clustering_limit(evidence: Evidence) -> str:
    known, rows = evidence["method"] in ("none", "closed form"), len(evidence["labels"])
    if evidence["method"] == "closed form" and rows > _FACTOR:
        return f"the checker factorises matrices of up to {_FACTOR} rows, not of {rows}"
    return "" if known else f"the checker does not know the bound by {evidence['method']!r}"


def _centres_limit(evidence: Evidence) -> str:
    k, columns = np.shape(evidence["centres"])
    over = 1 < k <= columns and columns > _FACTOR
    return f"the checker factorises matrices of up to {_FACTOR} columns, not of {columns}" if over else ""


_FACTOR = 300  # rows of the largest matrix that the checker factorises
_COSINE = 30  # columns in which it integrates the cosine kernel
_GRAPH = 2000  # rows of the largest graph that it takes
_LIMITS: dict[str, Callable[[Evidence], str]] = {
    "cluster-sums": _centres_limit,
    "clustering": _clustering_limit,
    "condensed-neighbors": _neighbors_limit,
    "duality": _optimality_limit,
    "edited-neighbors": _neighbors_limit,
    "gaussian-counts": _gaussian_limit,
    "gaussian-sums": _gaussian_limit,
    "hard-margin": _kernel_limit,
    "harmonic-labels": _graph_limit,
    "kernel-density": _density_limit,
    "kernel-perceptron": _kernel_limit,
    "least-squares": _optimality_limit,
    "local": _optimality_limit,
    "mercer": _mercer_limit,
    "mixed-counts": _mixed_limit,
    "neighbors": _neighbors_limit,
    "no-margin": _kernel_limit,
    "perceptron": _perceptron_limit,
    "radius-neighbors": _neighbors_limit,
    "stationary": _family_limit,
    "tree": _tree_limit,
    "tree-general": _tree_limit,
}
