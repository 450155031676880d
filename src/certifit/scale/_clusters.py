"""k-means in passes: a start from a reproducible sample, then Lloyd's iterations over all rows."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import clone

from certifit._trace import Trace
from certifit._types import Array, BaseEstimator
from certifit.certificates.class_sums import ClassTotals, means_and_variances
from certifit.certificates.cluster_sums import Nearest, cost
from certifit.exceptions import ConvergenceWarning
from certifit.parallel import one_thread
from certifit.scale._job import Job, Seen, name_features
from certifit.scale._sample import Sample

_ROWS = 20_000  # of the sample that the start is found on, at least
_EACH = 100  # rows of it for each cluster, at least


def fit_kmeans(job: Job, model: BaseEstimator) -> None:
    """k-means: one pass for the sample, one for every iteration of Lloyd's."""
    job.ignore_target()
    seen = job.look(labels=False)
    if seen.rows < model.n_clusters:
        raise ValueError(f"n_samples={seen.rows} should be >= n_clusters={model.n_clusters}.")
    centres = _start(job, model, seen)
    status, steps = "max_iter", 0
    while True:
        found: ClassTotals = job.run(
            Nearest(centres, seen.grid, seen.weight_exponent), task=f"iteration {steps + 1}", rows=seen.rows
        )
        if status == "converged" or steps == model.max_iter:
            break
        means, spread = _means(found, centres, seen.grid.centre)
        steps += 1
        if np.array_equal(means, centres):
            status = "converged"
            break
        # The last centres get a pass of their own, which says what they cost.
        if float(np.square(means - centres).sum()) <= model.tol * spread:
            status = "converged"
        centres = means
    if status == "max_iter":
        warnings.warn(
            f"KMeans stopped after {steps} iterations; certificate_ states how much could still be gained.",
            ConvergenceWarning,
            stacklevel=3,
        )
    name_features(model, job.plan.numbers)
    model.cluster_centers_, model._n_features_out, model._held_data = centres, model.n_clusters, None
    model.inertia_ = max(float(cost(found, centres, seen.grid.centre).mid), 0.0)
    model.n_iter_, model.n_moves_, model.status_, model.trace_ = steps, 0, status, Trace()
    job.promise(model, "cluster-sums", {"centres": centres, **seen.sums})


def _start(job: Job, model: Any, seen: Seen) -> Array:
    """The centres of a fit to a sample, or those that were given."""
    if not isinstance(model.init, str) and not callable(model.init):
        start = np.array(model.init, dtype=float)
        if start.shape != (model.n_clusters, len(job.plan.numbers)):
            raise ValueError(
                f"The shape of the initial centers {start.shape} does not match the number of clusters "
                f"{model.n_clusters} and the number of features of the data {len(job.plan.numbers)}."
            )
        return start
    seed = 0 if model.random_state is None else model.random_state
    if not isinstance(seed, (int, np.integer)):
        raise ValueError("In partitions random_state must be an integer or None, which counts as 0.")
    rows = max(_ROWS, _EACH * model.n_clusters)
    block, _ = job.run(Sample(rows, int(seed), finite=True), task="drawing rows", rows=seen.rows)
    own = clone(model).set_params(random_state=int(seed))
    with one_thread():
        own.fit(np.ascontiguousarray(block.X.T), sample_weight=block.weight)
    return np.asarray(own.cluster_centers_, dtype=float)


def _means(found: ClassTotals, centres: Array, origin: Array) -> tuple[Array, float]:
    """The mean of the rows of each centre (of none: the centre itself), and the mean variance of the columns."""
    mean, _, _, spread = means_and_variances(found, origin)
    empty = np.asarray(found.mass <= 0, dtype=bool)[:, None]
    return np.where(empty, centres, origin + mean.mid), float(np.mean(np.maximum(spread.mid, 0.0)))
