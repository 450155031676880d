r"""Minimise ½‖y − A w‖² + Σ l1ⱼ|wⱼ| + ½ Σ l2ⱼ wⱼ² given the Gram matrix of A: sweeps, then active sets.

Coordinate sweeps find most of the support from a cold start. From there the active-set loop ends at the exact
solution: given which coefficients are zero and the signs of the others, the rest is a linear system (the
feature-sign idea of Lee, Battle, Raina and Ng 2006), whose inverse is kept up to date. Where columns depend on each
other the sweeps have the last word, helped by damped Newton steps.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotri

from certifit._types import Array
from certifit.design import lifted_cholesky
from certifit.parallel import one_thread

_ROUNDS = 500
_COLD_SWEEPS = 8
_FEW = 4  # sweeps after which signs are compared
_PAYING = 0.4  # passes go on as long as a few of them make the gap so many times as large
_PASSES, _MANY = 2, 30
_BLOCK, _AMONG = 64, 8  # coordinates of a pass that are swept together, and how often
_LARGEST = 2500  # support beyond which an inverse costs more than sweeps


@dataclass
class GramState:
    """Where the descent stands; ``w`` and ``q`` are changed in place."""

    w: Array
    q: Array  # Aᵀ(y − A w)
    r2: float  # ‖y − A w‖²

    def copy(self) -> GramState:
        return GramState(self.w.copy(), self.q.copy(), self.r2)


@dataclass(frozen=True)
class Penalty:
    """Strengths per (scaled) coordinate."""

    l1: Array
    l2: Array
    positive: bool

    def value(self, w: Array) -> float:
        return float(self.l1 @ np.abs(w) + 0.5 * (self.l2 @ (w * w)))

    def gap(self, w: Array, q: Array, r2: float) -> tuple[float, float]:
        """A bound on the distance to the optimum, and the factor c: the dual point is c times the residual."""
        from certifit.loops.coordinate import gap  # compiled code loads on first use

        bound, factor = gap(w, q, r2, self.l1, self.l2, self.positive)
        return bound, factor


@dataclass
class Active:
    """The support of the last state that was solved, and the inverse that belongs to it."""

    S: Array = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    k: int = 0
    inverse: Array = field(default_factory=lambda: np.zeros((0, 0)))
    ridge: float = 0.0  # the first entry of l2 the inverse was built with: all change together

    def matches(self, state: GramState, penalty: Penalty) -> bool:
        if self.k != np.count_nonzero(state.w) or self.ridge != (penalty.l2[0] if len(penalty.l2) else 0.0):
            return False
        return bool(np.all(state.w[self.S[: self.k]] != 0.0))

    def build(self, G: Array, state: GramState, penalty: Penalty) -> bool:
        """Factorise for the support of the state; False where its columns depend on each other."""
        from certifit.loops.active_set import mirror  # compiled code loads on first use
        from certifit.loops.coordinate import take

        S = np.flatnonzero(state.w)
        k = len(S)
        H = np.empty((k, k))
        take(G, S, H)
        H[np.diag_indices_from(H)] += penalty.l2[S]
        if k:
            with one_thread():
                size = np.diag(H).copy()
                C, info = dpotrf(H.T, lower=1, clean=0, overwrite_a=1)  # columns are rows: nothing is copied
                if info != 0 or not np.min(np.diag(C) ** 2 / size) > 1e-11:
                    return False
                inverse, info = dpotri(C, lower=1, overwrite_c=1)
            H = inverse.T
            mirror(H)
        self.reserve(k, len(state.w))
        self.S[:k], self.inverse[:k, :k], self.k = S, H, k
        self.ridge = penalty.l2[0] if len(penalty.l2) else 0.0
        return True

    def reserve(self, k: int, m: int) -> None:
        """Room for the support to grow."""
        if len(self.S) < m:
            self.S = np.concatenate([self.S, np.zeros(m - len(self.S), dtype=np.int64)])
        room = min(m, max(2 * k, 1024))
        if len(self.inverse) < min(m, k + 64):
            larger, kept = np.zeros((room, room)), max(self.k, 0)  # −1: the inverse was given up
            larger[:kept, :kept] = self.inverse[:kept, :kept]
            self.inverse = larger


def descend_gram(
    G: Array,
    state: GramState,
    penalty: Penalty,
    tol: float,
    share: float,
    active: Active | None = None,
    rng: np.random.Generator | None = None,
    jump: bool = False,
    loose: bool = False,
) -> int:
    """Advance the state until its gap (within these coordinates) is at most tol; returns sweeps and changes made.

    G may be a larger buffer: only the first m = len(w) rows and columns count. ``share`` is the relative violation
    at which an active-set pass may end. ``jump`` says that many coefficients will enter: sweeps and one factorisation
    then beat single updates. With ``loose`` sweeps go on as long as they pay, and may end it at a gap just below tol;
    otherwise an active-set pass ends it, mostly with no gap at all.
    """
    work = 0
    active = Active() if active is None else active
    last, patience = np.inf, 0
    if penalty.gap(state.w, state.q, state.r2)[0] <= tol:
        return 0
    for turn in range(_ROUNDS):
        small = np.count_nonzero(state.w) <= _LARGEST
        warm = small and (active.k > 0 or turn > 0) and active.matches(state, penalty)
        if loose and turn == 0:
            done, gap = _sweep_on(G, state, penalty, tol, rng)
            work += done
            if gap <= tol:
                break
            warm = False
        elif jump and warm and turn == 0:
            before = state.copy()
            _sweep_signs(G, state, penalty, rng)
            if not active.build(G, state, penalty):
                state.w[:], state.q[:], state.r2 = before.w, before.q, before.r2
        elif not warm:
            if jump and turn == 0:
                _sweep_signs(G, state, penalty, rng)
            else:
                _sweeps(G, state, penalty, _COLD_SWEEPS if turn == 0 else 20, rng)
            work += _COLD_SWEEPS
        if warm or (small and turn < 5 and active.build(G, state, penalty)):
            work += _pass(G, state, penalty, share, active)
        elif turn > 0:
            _newton(G, state, penalty)
        if penalty.gap(state.w, state.q, state.r2)[0] <= tol:
            break
        now = 0.5 * state.r2 + penalty.value(state.w)
        patience = 0 if now < last * (1.0 - 1e-14) else patience + 1
        if patience > 10:  # as far as this arithmetic goes
            break
        last = min(now, last)
        share *= 0.3
    return work


def _sweep_on(
    G: Array, state: GramState, penalty: Penalty, tol: float, rng: np.random.Generator | None
) -> tuple[int, float]:
    """Sweeps until the gap is at most tol or closes too slowly (columns that are much alike); their number, the gap."""
    from certifit.loops.coordinate import cd_blocks

    last, done, gap = np.inf, 0, np.inf
    while done < _MANY:
        w, q = state.w.copy(), state.q.copy()
        order = _order(len(w), rng)
        cd_blocks(G, state.q, state.w, penalty.l1, penalty.l2, penalty.positive, order, _BLOCK, _AMONG, _PASSES)
        state.r2 = max(state.r2 - float((state.w - w) @ (q + state.q)), 0.0)
        done += _PASSES
        gap = penalty.gap(state.w, state.q, state.r2)[0]
        if gap <= tol or not gap <= _PAYING * last:
            break
        last = gap
    return done, gap


def _sweep_signs(G: Array, state: GramState, penalty: Penalty, rng: np.random.Generator | None) -> None:
    """Sweeps until few coefficients enter or leave: a change of the inverse costs about as much as a sweep."""
    for _ in range(0, _MANY, _FEW):
        before = np.sign(state.w)
        _sweeps(G, state, penalty, _FEW, rng)
        if np.count_nonzero(np.sign(state.w) != before) <= _FEW:
            break


def _order(m: int, rng: np.random.Generator | None) -> Array:
    return np.arange(m) if rng is None else rng.permutation(m)


def _sweeps(G: Array, state: GramState, penalty: Penalty, epochs: int, rng: np.random.Generator | None) -> None:
    from certifit.loops.coordinate import cd_gram

    m = len(state.w)
    w, q = state.w.copy(), state.q.copy()
    cd_gram(G, state.q, state.w, m, penalty.l1, penalty.l2, penalty.positive, _order(m, rng), epochs, 0.0)
    state.r2 = max(state.r2 - float((state.w - w) @ (q + state.q)), 0.0)


def _pass(G: Array, state: GramState, penalty: Penalty, share: float, active: Active) -> int:
    """One run of the active-set loop; undone if it made things worse (lost digits)."""
    from certifit.loops.active_set import DONE, active_set

    m = len(state.w)
    active.reserve(active.k, m)
    w, q, r2 = state.w.copy(), state.q.copy(), state.r2
    k, changes, status = active_set(
        G, state.q, state.w, m, penalty.l1, penalty.l2, penalty.positive, active.S, active.k, active.inverse,
        max(share, 1e-13), 20 * m + 100,
    )  # fmt: skip
    state.r2 = max(r2 - float((state.w - w) @ (q + state.q)), 0.0)
    active.k = k
    if status != DONE:
        active.k = -1  # build it again, if at all
        worse = 0.5 * state.r2 + penalty.value(state.w) > 0.5 * r2 + penalty.value(w)
        if worse or not np.all(np.isfinite(state.w)):
            state.w[:], state.q[:], state.r2 = w, q, r2
    return int(changes)


def _newton(G: Array, state: GramState, penalty: Penalty) -> None:
    """A damped Newton step on the support, signs held: for columns that (nearly) depend on each other."""
    from certifit.loops.coordinate import follow, take

    S = np.flatnonzero(state.w)
    if len(S) == 0:
        return
    H = np.empty((len(S), len(S)))
    take(G, S, H)
    w, signs, l1, l2 = state.w[S], np.sign(state.w[S]), penalty.l1[S], penalty.l2[S]
    H[np.diag_indices_from(H)] += l2
    slope = state.q[S] - l1 * signs - l2 * w
    # A little ridge where columns are dependent: sweeps then take the last digits.
    factor = lifted_cholesky(H, lift=(0.0, 1e-12, 1e-9, 1e-6), least=1e-13)
    step = np.full(len(S), np.nan) if factor is None else factor.solve(slope)
    if not np.all(np.isfinite(step)):
        return
    moved = w + step
    crossed = moved * signs <= 0.0
    if np.any(crossed):
        t = float(np.min(-w[crossed] / step[crossed]))
        line = w + t * step
        line[crossed & (np.abs(line) <= 1e-14 * np.abs(w))] = 0.0
        line[line * signs < 0.0] = 0.0
        cut = np.where(crossed, 0.0, moved)

        def change(v: Array) -> float:
            move = v - w
            return float(-slope @ move + 0.5 * move @ (H @ move))

        moved = min((line, cut), key=change)
        if not change(moved) <= 0.0:
            return
    move, before = moved - w, state.q[S]
    follow(G, state.q, len(state.w), S, move)
    state.w[S] = moved
    state.r2 = max(state.r2 - float(move @ (before + state.q[S])), 0.0)
