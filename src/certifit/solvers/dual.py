r"""A feasible dual point beside a fit: what turns coefficients into evidence of their own optimality.

The slopes β = s∘L′(z) at a fit nearly solve the dual problem; three repairs make them feasible exactly. Each βᵢ is cut
to its box; where the offset is free, β is rounded to multiples of one power of two and moved until Σβ is exactly 0; and
where the penalty is a norm, β is shrunk until Λv = −Xᵀβ lies in the dual ball (where coefficients only must not be
negative, it is moved until v ≤ 0). Softmax keeps weights that flow from
class to class instead: what flows out of a class must flow back in.

Nothing here has to be trusted: the proof (`certifit.certificates.optimality`) checks feasibility and adds up the terms.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np
import scipy.sparse

from certifit._objective import Objective, Target
from certifit._types import Array, Matrix, Record
from certifit.certificates import Ball, Certificate, Data, ball, issue, to_float
from certifit.certificates._blocks import rows_of_block
from certifit.certificates._row_sums import longest_chain
from certifit.certificates.maps import FEW, ColumnMap, used_columns
from certifit.design import Design
from certifit.solvers.balance import balance_within

_FAR = 1.0 + 1e-6  # times the dual ball: β this far outside is first moved along the columns, not only shrunk
_PROJECTIONS = 5  # at most; one or two are the rule
_AFFORDABLE = 1e9  # multiplications of a projection
_RESOLVED = 1e-8  # singular values below this fraction of the largest count as zero
_DEAR, _DEAR_SPARSE = 1e10, 1e9  # multiplications from which on a matrix of columns by columns takes longer than a fit
_SLACKS = 10.0 ** np.arange(-14, -7)  # rounding to the grid may leave v a little outside the dual ball


def dual_point(
    objectives: Objective | Sequence[Objective], data: Data, coef: Array, intercept: Array, slopes: Array | None = None
) -> Array:
    """β (n, outputs) from the slopes at a fit, exactly feasible; zeros (which always are) where no repair succeeds.

    There is one objective, or one for each target; ``slopes`` (n, outputs) replace those at the fit.

    Examples
    --------
    >>> from certifit.losses import Squared
    >>> from certifit.regularizers import SquaredL2
    >>> objective = Objective(Squared(), SquaredL2(), 1.0)
    >>> data = Data.of([[0.0], [1.0], [2.0]], [1.0, 3.0, 5.5])
    >>> float(dual_point(objective, data, np.array([[1.5]]), np.array([1.7])).sum())
    0.0
    """
    single = isinstance(objectives, Objective)
    first = objectives if isinstance(objectives, Objective) else objectives[0]
    targets = first.encode(np.asarray(data.y), data.weights)
    each = [first] * len(targets) if single else list(objectives)  # type: ignore[arg-type]
    with np.errstate(all="ignore"):
        columns, start, parts = ColumnMap(data, "float"), 0, []
        X, W = used_columns(data.X, np.asarray(coef, dtype=float))
        Z = np.asarray(X @ W.T) + intercept
        if data.offset is not None:
            Z = Z + data.offset[:, None]
        for objective, target in zip(each, targets):
            at = slice(start, start + target.outputs)
            begin, own = (Z[:, at], None) if slopes is None else (None, slopes[:, at])
            parts.append(_one(objective, target, begin, own, columns, columns.width))
            start += target.outputs
    return np.concatenate(parts, axis=1)


def duality_proof(
    objectives: Objective | Sequence[Objective], data: Data, evidence: Record, slopes: Array | None = None
) -> Certificate:
    """The duality gap of `evidence_of` a fit, by the slopes there or by other ``slopes``: whichever proves more.

    Where few columns are used, these are tried alone: most often no other column is steeper, which the proof shows.
    """
    fit, digest = (evidence["coef"], evidence["intercept"]), data.digest()

    def proof(dual: Array) -> Certificate:
        return issue("duality", data, evidence | {"dual": dual}, digest=digest)

    if slopes is None and isinstance(objectives, Objective):
        quick = _by_used_columns(objectives, data, *fit)
        found = None if quick is None else proof(quick)
        if found is not None and found.holds:
            return found
    tried = (None,) if slopes is None else (None, slopes)
    return best_first([proof(dual_point(objectives, data, *fit, slopes=start)) for start in tried])[0]


def _by_used_columns(objective: Objective, data: Data, coef: Array, intercept: Array) -> Array | None:
    """β whose slopes are in the dual ball at the columns in use, where these are few; None where that is not quick."""
    targets, used = objective.encode(np.asarray(data.y), data.weights), np.flatnonzero(np.any(coef != 0.0, axis=0))
    few = 0 < FEW * len(used) <= data.X.shape[1] and not scipy.sparse.issparse(data.X)
    if not few or objective.regularizer.name != "l1" or objective.padding is not None or len(targets) != 1:
        return None
    with np.errstate(all="ignore"):
        columns = ColumnMap(data, "float").among(used)
        Z = columns.given @ coef[:, used].T + intercept
        Z = Z if data.offset is None else Z + data.offset[:, None]
        beta = _one(objective, targets[0], Z, None, columns, data.X.shape[1])
    return beta if np.any(beta) else None


def local_bound_suits(objective: Objective, X: Matrix | Design) -> bool:
    """Whether to judge a self-concordant fit on these rows by the Newton decrement, the sharper proof.

    It needs a matrix of columns by columns. With very many of them weak duality, which needs a penalty, is left.

    Examples
    --------
    >>> from certifit.losses import Logistic
    >>> from certifit.regularizers import SquaredL2
    >>> objective = Objective(Logistic(), SquaredL2(0.5), 1.0)
    >>> local_bound_suits(objective, np.ones((100, 10))), local_bound_suits(objective, np.ones((1, 200_000)))
    (True, False)
    """
    sparse, (n, d) = X.is_sparse if isinstance(X, Design) else scipy.sparse.issparse(X), X.shape
    return not objective.strength > 0.0 or n * d**2 <= (_DEAR_SPARSE if sparse else _DEAR)


def best_first(found: Iterable[Certificate]) -> tuple[Certificate, ...]:
    """Certificates of one fit: those that hold before others, smaller gaps before larger ones."""
    return tuple(sorted(found, key=lambda c: (not c.holds, c.figures.get("gap", np.inf))))


def evidence_of(objectives: Objective | Sequence[Objective], coef: Array, intercept: Array | float) -> Record:
    """The part of the evidence that says what is minimised, for all targets or each, and which point is judged.

    Examples
    --------
    >>> from certifit.losses import Squared
    >>> from certifit.regularizers import L1
    >>> sorted(evidence_of(Objective(Squared(), L1(), 1.0), np.ones(2), 0.0))
    ['coef', 'intercept', 'objective']
    """
    one = isinstance(objectives, Objective)
    W = np.atleast_2d(np.asarray(coef, dtype=float))
    return {
        "objective": objectives.to_dict() if one else [o.to_dict() for o in objectives],  # type: ignore[union-attr]
        "coef": W,
        "intercept": np.broadcast_to(np.asarray(intercept, dtype=float), (len(W),)).copy(),
    }


def _one(
    objective: Objective, target: Target, Z: Array | None, slopes: Array | None, columns: ColumnMap, width: int
) -> Array:
    """β (n, outputs) of one machine, by all ``width`` columns or by some of them."""
    flat = len(target.y.shape) == 1 and target.outputs == 1
    if slopes is None:
        assert Z is not None
        slopes = objective.loss.slope(Z[:, 0] if flat else Z, target.y)
    slopes = np.nan_to_num(slopes.reshape(len(target.y), -1))
    full = _feasible(objective, target, slopes)
    if full is None or not objective.strength > 0.0:
        return np.zeros((len(target.y), target.outputs))
    v = _slopes(objective, full, columns, width)
    size, l1 = _gauge(objective, v), objective.regularizer.name == "l1"
    if not size > 1.0:
        return full
    if size > _FAR and columns.width < width:  # a matter of all columns
        return np.zeros((len(target.y), target.outputs))
    if l1 and not size > _FAR and flat and objective.padding is None:
        # What lies deep inside stays inside: from here on only the other columns are looked at.
        columns = columns.among(np.flatnonzero(np.abs(v.mid[0]) > size / _FAR**2))
    if size > _FAR and Z is not None and flat and l1 and objective.loss.smooth:
        full, size = _projected(objective, target, full, Z[:, 0], columns)
    if math.isinf(size) and flat and objective.signed:  # coefficients that are not negative, and no other penalty
        full, size = _lowered(objective, target, full, columns)
    factor = 1.0
    for slack in _SLACKS if math.isfinite(size) else ():
        factor *= (1.0 - slack) / max(size, 1.0)
        beta = _shrunk(objective, target, full, factor)
        size = 1.0 if beta is None else _size(objective, beta, columns, width)
        if beta is not None and size <= 1.0:
            return beta
    return np.zeros((len(target.y), target.outputs))


def _projected(objective: Objective, target: Target, beta: Array, z: Array, columns: ColumnMap) -> tuple[Array, float]:
    """β and its size after Newton steps that take the slopes of the columns back to ±Λ, where that makes it smaller.

    A column of large numbers has a large slope at coefficients that are all but optimal. To shrink all of β for its
    sake would waste the bound; these steps change β by about as much as the coefficients lack.
    """
    X, bent = columns.given, np.zeros(columns.width, dtype=bool)
    h = target.weights * objective.loss.curvature(z, target.y)
    best, size = beta, _size(objective, beta, columns)
    for _ in range(_PROJECTIONS):
        pull = np.asarray(X.T @ beta[:, 0])
        bent |= np.abs(pull) > objective.strength
        if len(beta) * np.count_nonzero(bent) ** 2 > _AFFORDABLE:
            break
        part = X[:, bent]
        A = part.toarray() if scipy.sparse.issparse(part) else np.asarray(part, dtype=float)
        over = (pull - np.clip(pull, -objective.strength, objective.strength))[bent]
        if objective.free:
            A, over = np.column_stack([A, np.ones(len(A))]), np.append(over, beta.sum())
        unit = np.abs(A).max(axis=0)
        A = A / unit
        step = h * (A @ np.linalg.lstsq(A.T @ (A * h[:, None]), over / unit, rcond=None)[0])
        moved = _boxed(objective, target, beta - step[:, None])
        if moved is None:
            break
        beta, now = moved, _size(objective, moved, columns)
        if now < size:
            best, size = beta, now
        if not size > _FAR:
            break
    return best, size


def _lowered(objective: Objective, target: Target, beta: Array, columns: ColumnMap) -> tuple[Array, float]:
    """β and its size after a step that takes v to zero or below in the columns where it is above.

    All these columns go down by as much, in units of their lengths: those that are nearly copies of each other agree
    about that, so that the step is short, and their small difference does not enter.
    """
    X, root, total = columns.given, np.sqrt(target.weights), float(target.weights.sum())
    if scipy.sparse.issparse(X) or X.size * X.shape[1] > _AFFORDABLE:
        return beta, math.inf
    A = root[:, None] * (X - target.weights @ X / total if objective.free else X)
    length, used = np.linalg.norm(A, axis=0), np.zeros(columns.width, dtype=bool)
    moved, depth = beta, 0.0
    for _ in range(_PROJECTIONS):
        high = to_float(_slopes(objective, moved, columns, columns.width).upper)[0]
        if np.all(high <= 0.0):
            return moved, 1.0
        used |= high > 0.0
        depth = max(2.0 * depth, 4.0 * float(np.max(high[used] / length[used])))
        if not math.isfinite(depth):
            break
        unit = A[:, used] / length[used]
        step = np.linalg.lstsq(unit.T, np.full(unit.shape[1], depth), rcond=_RESOLVED)[0]
        free = beta[:, 0] + objective.strength * root * step
        free = free - target.weights * (free.sum() / total) if objective.free else free
        boxed = _boxed(objective, target, free[:, None])
        if boxed is None:
            break
        moved = boxed
    return beta, math.inf


def _size(objective: Objective, beta: Array, columns: ColumnMap, width: int | None = None) -> float:
    """How far v is outside the dual ball, as a proof will see it that adds up ``width`` columns side by side."""
    return _gauge(objective, _slopes(objective, beta, columns, width or columns.width))


def _gauge(objective: Objective, v: Ball) -> float:
    return float(to_float(ball(objective.gauge(v)).upper))


def _slopes(objective: Objective, beta: Array, columns: ColumnMap, width: int) -> Ball:
    """v, with room for another machine to add up in another order: sums differ by far less than the radius allows.

    The more columns there are, the longer are the chains in which a column is added up, and the wider is the radius.
    """
    v, n = columns.slopes(objective, beta), len(beta)
    if columns.width == width or scipy.sparse.issparse(columns.given):
        return Ball(v.mid, 2.0 * v.rad)
    here, there = (longest_chain(n, min(n, rows_of_block(w))) for w in (columns.width, width))
    return Ball(v.mid, 2.0 * max(1.0, (there + 2) / (here + 2)) * v.rad)


def _feasible(objective: Objective, target: Target, slopes: Array) -> Array | None:
    """β in its domain, and balanced where the offset is free."""
    weights = target.weights
    if objective.loss.targets == "class":
        P = np.maximum(slopes + (target.y[:, None] == np.arange(target.outputs)), 0.0)
        return _flows(P, target.y, weights, objective.free)
    return _boxed(objective, target, slopes * weights[:, None])


def _boxed(objective: Objective, target: Target, beta: Array) -> Array | None:
    """β cut to its box, and balanced where the offset is free."""
    low, high = (end.reshape(len(beta), -1) for end in objective.box(target.y, target.weights))
    beta = np.clip(beta, low, high)
    return _balanced(beta, low, high) if objective.free else beta


def _balanced(beta: Array, low: Array, high: Array) -> Array | None:
    found = [balance_within(beta[:, k], low[:, k], high[:, k]) for k in range(beta.shape[1])]
    return None if any(f is None for f in found) else np.column_stack(found)  # type: ignore[arg-type]


def _shrunk(objective: Objective, target: Target, full: Array, factor: float) -> Array | None:
    """factor·β, made feasible again without leaving the segment from 0 to β."""
    if objective.loss.targets == "class":
        weights = np.where(target.weights > 0.0, target.weights, 1.0)
        return _flows(np.maximum(full, 0.0) / weights[:, None] * factor, target.y, target.weights, objective.free)
    if not objective.free:
        return full * factor
    return _balanced(full * factor, np.minimum(full, 0.0), np.maximum(full, 0.0))


def _flows(P: Array, code: Array, weights: Array, free: bool) -> Array | None:
    """β = s(p − e_y) whose rows, and with a free offset also columns, sum to zero exactly.

    All entries are multiples of one power of two, small enough that every sum is exact; what is left over between two
    classes is sent by rows of the one to the other, in proportion to what they have to give.
    """
    n, K = P.shape
    beta = P * weights[:, None]
    beta[np.arange(n), code] = 0.0
    size = float(beta.sum())
    if size == 0.0:
        return np.zeros((n, K))
    if not math.isfinite(size):
        return None
    grid = 2.0 ** (math.ceil(math.log2(size)) - 50)
    q = np.rint(beta / grid)
    q = np.where((q.sum(axis=1) > np.floor(weights / grid))[:, None], np.floor(beta / grid), q)
    if free and not _return_flows(q, code, weights / grid):
        return None
    q[np.arange(n), code] = -q.sum(axis=1)
    return q * grid


def _return_flows(q: Array, code: Array, limits: Array) -> bool:
    """Add to q (in place) until as much flows into every class as out of it; whether that succeeded."""
    K = q.shape[1]
    excess = q.sum(axis=0) - np.array([q[code == k].sum() for k in range(K)])
    for a in np.argsort(-excess):
        for b in np.argsort(excess):
            move = min(excess[a], -excess[b])
            if move <= 0:
                continue
            rows = np.flatnonzero((code == a) & (limits > 0))
            room = np.maximum(np.floor(limits[rows]) - q[rows].sum(axis=1), 0.0)
            if room.sum() < 2 * move:
                return False
            extra = np.minimum(np.floor(move * (room / room.sum())), room)
            for k in np.argsort(-room, kind="stable")[: int(move - extra.sum())]:
                extra[k] += 1.0
            if np.any(extra > room):
                return False
            q[rows, b] += extra
            excess[a] -= extra.sum()
            excess[b] += extra.sum()
    return not np.any(excess)
