"""Check a certifit proof file against its data with nothing but Python's standard library: python checker.py fit.proof data.csv
Each figure is recomputed and printed, then PROVED or NOT PROVED and why; the pages "The proof file" and "What you have to trust" say more.
`N` is an interval [lo, hi]·2^e of integers: sums and products of floats are exact, all else and what exceeds BITS rounds outwards. Where
rounding leaves a comparison open and nothing is proved, all is computed again with four times the bits."""
import ast, csv, decimal, fractions, functools, hashlib, importlib.util, itertools, json, math, operator, pathlib, re, struct, sys
BITS, GIVEN, exponent = 192, (["given"], ["precomputed"]), operator.attrgetter("e")  # bits of an interval; kernels whose values are given
class Refused(Exception): """The evidence does not prove the claim; the text says why."""
def need(condition, why):
    if not condition: raise Refused(why)
class Record(dict): __getattr__ = dict.__getitem__  # e.coef is e["coef"]
class N:  # the interval [lo, hi]·2^e; an interval that is no single number keeps at most BITS bits, rounded outwards
    __slots__ = ("e", "hi", "lo"); zero = lambda a: a.lo == a.hi == 0; undecided = False  # whether rounding left a comparison open
    def __init__(self, lo, hi=None, e=0):
        hi = lo if hi is None else hi; cut = max(abs(lo), abs(hi)).bit_length() - BITS if lo != hi else 0
        self.lo, self.hi, self.e = (lo >> cut, -(-hi >> cut), e + cut) if cut > 0 else (lo, hi, e)
    def __add__(self, b):
        a, b = sorted((self, n(b)), key=exponent)
        k = b.e - a.e
        return N(a.lo + (b.lo << k), a.hi + (b.hi << k), a.e)
    def __mul__(self, b):
        b = n(b)
        p = [x * y for x in {self.lo, self.hi} for y in {b.lo, b.hi}]
        return N(min(p), max(p), self.e + b.e)
    def __truediv__(self, other):  # quotients of the ends, rounded down and up
        b = n(other); need(b.lo > 0 or b.hi < 0 or abs(b) > 0, "a division by what may be zero")
        k = BITS + max(0, max(abs(b.lo), abs(b.hi)).bit_length() - min(abs(self.lo), abs(self.hi)).bit_length())
        q = [(x << k, y) for x in (self.lo, self.hi) for y in (b.lo, b.hi)]
        return N(min(x // y for x, y in q), max(-(-x // y) for x, y in q), self.e - b.e - k)
    def sqrt(self):  # integer square roots, rounded down and up; what is below zero counts as zero
        k = 2 * BITS + (self.e & 1); low, high = max(self.lo, 0) << k, max(self.hi, 0) << k
        return N(math.isqrt(low), math.isqrt(high) + (math.isqrt(high) ** 2 < high), (self.e - k) // 2)
    def __pow__(self, k): return N(1) if not k else (abs(self) * abs(self)) ** (k // 2) * (self if k % 2 else 1)
    def __abs__(self):
        return N(0 if self.lo < 0 < self.hi else min(abs(self.lo), abs(self.hi)), max(abs(self.lo), abs(self.hi)), self.e)
    def floor(self):  # 64 bits, from below
        cut = max(0, self.lo.bit_length() - 64)
        return N(self.lo >> cut, None, self.e + cut)
    max0, ends = lambda a: N(max(a.lo, 0), max(a.hi, 0), a.e), lambda a: (N(a.lo, None, a.e), N(a.hi, None, a.e))
    __neg__, __sub__ = lambda a: N(-a.hi, -a.lo, a.e), lambda a, b: a + -n(b)
    __radd__, __rmul__, __rsub__, __rtruediv__ = __add__, __mul__, lambda a, b: n(b) - a, lambda a, b: n(b) / a
    def __ge__(self, b):  # surely, for all numbers in the intervals
        d = self - b; N.undecided |= d.lo < 0 <= d.hi
        return d.lo >= 0
    def __gt__(self, b):
        d = self - b; N.undecided |= d.lo <= 0 < d.hi
        return d.lo > 0
    __le__, __lt__ = lambda a, b: n(b) >= a, lambda a, b: n(b) > a
    def __str__(self):
        return "{:.6g}".format(decimal.Decimal(max(self.lo, self.hi, key=abs)) * decimal.Decimal(2) ** self.e)
def n(x):  # a float or whole number as an exact interval
    if type(x) in (N, int): return x if type(x) is N else N(x)
    need(type(x) is float and math.isfinite(x), "something that is no finite number: %r" % (x,))
    p, q = x.as_integer_ratio(); return N(p, None, 1 - q.bit_length())  # q is a power of two
def aligned(terms):  # many numbers at the smallest exponent: lower ends, upper ends, exponent
    terms = [*terms]
    e = min((t.e for t in terms), default=0)
    return [t.lo << t.e - e for t in terms], [t.hi << t.e - e for t in terms], e
def total(terms, how=sum): return (lambda low, high, e: N(how(low), how(high), e))(*aligned(terms))
largest, least = lambda terms: total(terms, max), lambda terms: total(terms, min)
apart, length = lambda x, y: [abs(a - b) for a, b in zip(x, y)], lambda v: total(a**2 for a in v).sqrt()
def join(a, b):  # from the lower end of a to the upper end of b
    return (lambda low, high, e: N(low[0], high[1], e))(*aligned((a, b)))
def vec(values, size=None):
    need(size is None or len(values) == size, "numbers that do not fit the data")
    return [n(v) for v in values]
def mat(rows, m=None, d=None):
    need(m is None or len(rows) == m, "rows that do not fit the data")
    return [vec(r, d) for r in rows]
def dot(a, b):  # Σ ab; single numbers as whole numbers at two exponents
    need(len(a) == len(b), "rows or columns that do not fit each other")
    if any(x.lo != x.hi for x in (*a, *b)): return total(x * y for x, y in zip(a, b))
    (x, _, e), (y, _, f) = aligned(a), aligned(b); return N(sum(map(operator.mul, x, y)), None, e + f)
# 2^unit ln 2 = 2^unit Σ 1/(k 2^k), less than 2 too small: of unit + 40 terms with 40 places more each loses < 1, all later ones lose < 1
ln2 = functools.lru_cache(None)(lambda unit: sum((1 << unit + 40 - k) // k for k in range(1, unit + 41)) >> 40)
def exp(x):
    """e^x = 2^k e^r with r = x − k ln 2 in [0, ln 2), in fixed point with `unit` binary places. r is off by less than 2|k| + 1 units (k
    times the error of ln 2, and rounding), so e^r < 2 by less than 3(2|k| + 1). A term of the series is rounded down by less than 2 units
    and inherits less than 1 from its forerunner; fewer than BITS/3 are above zero (as i! > 2^(3i + 46) for i ≥ 64), the rest is below 6."""
    size = x.lo.bit_length() + x.e if x.lo else 0; need(size <= 14 or x.lo < 0, "an exponential that overflows")
    if size > 14: return N(0, 1, -20000)  # x ≤ −2^14
    unit = BITS + 32 + max(0, size)
    fixed = x.lo << x.e + unit if x.e + unit >= 0 else x.lo >> -(x.e + unit)
    k = fixed // ln2(unit)
    r, term, sum_, i = fixed - k * ln2(unit), 1 << unit, 1 << unit, 1
    while term: term = (term * r >> unit) // i; sum_, i = sum_ + term, i + 1
    wrong = 6 * abs(k) + BITS + 64; return N(sum_ - wrong, sum_ + wrong, k - unit)
def log(x):
    """log(2^k m) = k ln 2 + y + log(1 + t) for 1 ≤ m < 2, a float y near log m and t = m e^−y − 1. As |t| < 2^-48, t − t²/2 + t³/3 − … up
    to the power c − 1 = BITS/48 − 1 is off by less than 2^-48c = 2^-BITS; the rest is interval arithmetic."""
    need(x > 0, "the logarithm of what may not be positive"); k, unit = x.lo.bit_length() - 1, BITS + 64
    y = n(math.log(x.lo / (1 << k)))
    t = N(x.lo, None, -k) * exp(-y) - 1
    need(abs(t) < 2.0**-48, "a float that is not near the logarithm")
    series = functools.reduce(lambda rest, j: t * (N(1) / j - rest), range(BITS // 48 - 1, 0, -1), N(0))
    return N(ln2(unit), ln2(unit) + 2, -unit) * (k + x.e) + y + series + N(-1, 1, -BITS)
def rising(f): return lambda x: f(x) if x.lo == x.hi else join(*map(f, x.ends()))  # its values at the two ends enclose the others
exp, log = rising(exp), rising(log)
@rising
def sigmoid(z):  # 1/(1 + e^−z); the exponential does not overflow
    t = exp(-abs(z))
    return (1 if z.lo > 0 else t) / (1 + t)
up, low = [lambda v, sense=sense: (sense, v, v) for sense in ("upper", "lower")]  # what a figure is to what is proved
def near(v, size=None): return "about", v, abs(v if size is None else size)  # to a billionth of its size
class Table:  # X as rows of floats or words, y as columns, weights and offsets (None where not given)
    def __init__(self, X, y=None, weight=None, offset=None):
        self.X, self.y, self.given, self.offset, self.rows = X, y, weight, offset, len(X)
        self.width, self.weight, self.exact = len(X[0]) if X else 0, [1.0] * len(X) if weight is None else weight, None
        self.w, self.shift = vec(self.weight), vec(offset or [0.0] * len(X))
        need(all(v >= 0 for v in self.w), "a negative weight")
        need(all(p is None or len(p) == self.rows for p in (weight, offset, *(y or []))), "columns of unequal length")
    def digest(self, sparse):
        y = self.y and ([list(v) for v in zip(*self.y)] if len(self.y) > 1 else self.y[0])
        parts = (b"X:", self.X), (b"y:", y), (b"w:", self.given), (b"o:", self.offset)
        return hashlib.sha256(b"".join(k + (b"" if v is None else canonical(v, sparse and k == b"X:")) for k, v in parts)).hexdigest()
    def root(self, parts):  # a hash over those of the partitions, which are the rows one after another, in any order
        words = [any(type(x[j]) is str for x in self.X) for j in range(self.width)]
        columns, start, leaves = [*zip(*self.X)], 0, []
        marked = [(b"", c) for c, word in zip(columns, words) if not word] + [(b"", c) for c in self.y or []]
        marked += [(b"", [str(v) for v in c]) for c, word in zip(columns, words) if word]
        marked += [(k, v) for k, v in ((b"weight", self.given), (b"offset", self.offset)) if v is not None]
        for _, rows, stated in parts:
            here = slice(start, start + whole(rows, 1)); start += rows
            digests = [hashlib.sha256(mark + column_bytes(v[here])).digest() for mark, v in marked]
            leaves.append(hashlib.sha256(b"leaf%d" % rows + b"".join(digests)).digest())
            need(leaves[-1].hex() == stated and start <= self.rows, "a partition that is not the one of the proof, or in another place")
        need(start == self.rows, "rows that are in no partition"); level = sorted(leaves)
        while len(level) > 1:
            pairs = [level[i : i + 2] for i in range(0, len(level), 2)]
            level = [hashlib.sha256(b"node" + b"".join(p)).digest() if len(p) == 2 else p[0] for p in pairs]
        return hashlib.sha256(b"root%d" % self.rows + b"".join(level)).hexdigest()
    def numbers(self): return self.exact or self.__dict__.update(exact=mat(self.X)) or self.exact
    def at(self, numbers): return [whole(i, 0, self.rows) for i in numbers]  # rows, by their numbers
    products, columns = lambda t, w: [dot(row, w) for row in t.numbers()], lambda t: [list(c) for c in zip(*t.numbers())]
    def names(self):
        need(len(self.y or ()) == 1, "no labels, or several targets"); return sorted({key(v) for v in self.y[0]})
    def codes(self, classes, fewest=2):  # the place of every label among the classes
        place = {key(c): k for k, c in enumerate(classes)}
        need(len(place) == len(classes) >= fewest and len(self.y or ()) == 1, "no labels, or two alike")
        need(all(key(v) in place for v in self.y[0]), "a label that the proof does not name")
        return [place[key(v)] for v in self.y[0]]
    def groups(self, names):  # rows by their label, which of a row without weight need not be named
        need(len(rows := {key(c): [] for c in names}) == len(names) > 0 < len(self.y or ()) < 2, "no labels, or two alike")
        for i, v in enumerate(self.y[0]): need(key(v) in rows or not self.weight[i], "an unnamed label"); rows.get(key(v), []).append(i)
        return [*rows.values()]
    def shares(self, names): return [total(self.w[i] for i in rows) / total(self.w) for rows in self.groups(names)]
def column_bytes(column):  # floats as little-endian bytes (−0 as 0), words as JSON behind their lengths
    if all(type(v) is float for v in column): return struct.pack("<%dd" % len(column), *[v + 0.0 for v in column])
    return b"".join(b"-:" if v == "None" else b"%d:" % len(w) + w for v, w in ((v, json.dumps(str(v)).encode()) for v in column))
def key(v): return str(v) if not isinstance(v, (int, float)) else v if abs(v) > 1e300 else float(v)  # as it is compared
def canonical(part, sparse):  # floats as little-endian bytes behind their shape (−0 as 0), or as sparse rows; with words a JSON list
    deep = not part or isinstance(part[0], list)
    shape = str((len(part), len(part[0]) if part else 0) if deep else (len(part),)).encode()
    flat = [v for row in part for v in row] if deep else part
    if not all(type(v) is float for v in flat):
        return b"o" + shape + json.dumps([["number", repr(v)] if type(v) is float else ["word", v] for v in flat]).encode()
    if not sparse: return b"f" + shape + struct.pack("<%dd" % len(flat), *[v + 0.0 for v in flat])
    at, ends = [j for row in part for j, v in enumerate(row) if v], [0, *itertools.accumulate(sum(map(bool, row)) for row in part)]
    return b"csr" + shape + struct.pack("<%dq%dq%dd" % (len(ends), len(at), len(at)), *ends, *at, *filter(None, flat))
def read_table(paths):  # a CSV file with the header x0, x1, …, then y or y0, y1, …, weight, offset; or .npy files X, y, weight, offset
    if paths[0].endswith(".npy"):
        X, y, *rest = [read_npy(p) for p in paths] + [None] * (2 - len(paths))
        return Table(X, y and (list(map(list, zip(*y))) if isinstance(y[0], list) else [y]), *rest)
    head, *rows = read_csv(paths[0])
    for first, *more in map(read_csv, paths[1:]): need(first == head, "files with other columns"); rows += more  # partitions
    d, k = [sum(v[:1] == c for v in head) for c in "xy"]; y = ["y"] if "y" in head else ["y%d" % j for j in range(k)]
    names = ["x%d" % j for j in range(d)] + y + [v for v in ("weight", "offset") if v in head]
    need(head == names, "another header")
    need(all(len(row) == len(head) for row in rows), "unequal lines")
    columns = {v: [row[j] for row in rows] for j, v in enumerate(head)}
    return Table([row[:d] for row in rows], [columns[v] for v in y] or None, columns.get("weight"), columns.get("offset"))
def read_csv(path):
    with open(path, newline="", encoding="utf-8-sig") as f: return [*csv.reader(f, quoting=csv.QUOTE_NONNUMERIC)]
def read_npy(path):  # the head is one line, a dictionary
    raw = pathlib.Path(path).read_bytes(); body = raw.index(b"\n") + 1
    head = ast.literal_eval(raw[raw.index(b"{") : body].decode())
    kind = {"f8": "d", "f4": "f", "i8": "q", "i4": "i", "i2": "h", "i1": "b", "u1": "B", "b1": "?"}[head["descr"][1:]]
    flat = [float(v) for (v,) in struct.iter_unpack(head["descr"][0].replace("|", "<") + kind, raw[body:])]
    m, *d = head["shape"]
    return flat if not d else [flat[i::m] if head["fortran_order"] else flat[i * d[0] : (i + 1) * d[0]] for i in range(min(m, len(raw)))]
def once(pairs): need(len(dict(pairs)) == len(pairs), "a name that stands twice in one object"); return dict(pairs)
def decoded(v):  # numbers are whole, or hexadecimal floats in quotes ("0x1.8p+1", "inf"); a word that looks like one has an apostrophe
    if isinstance(v, (list, dict)):
        return [decoded(x) for x in v] if isinstance(v, list) else Record({k: decoded(x) for k, x in v.items()})
    need(type(v) is not float, "a float that is not written in hexadecimal")
    if type(v) is not str or not re.fullmatch(r"'.*|-?(0x[01]\.?[0-9a-f]*p[+-][0-9]+|inf)|nan", v, re.S): return v
    return v[1:] if v[0] == "'" else float.fromhex(v)
def whole(x, low=-math.inf, high=math.inf):
    x = int(x) if type(x) is float and x.is_integer() else x
    need(type(x) is int and low <= x < high, "%r: out of range" % (x,))
    return x
def truth(x): return x if type(x) is bool else need(False, "%r where true or false is needed" % (x,))
def reduced(rows):  # fraction-free Gauss-Jordan elimination (Bareiss; every division is exact): R, d, pivots, with R/d the reduced form
    A, d, pivots = [list(r) for r in rows], 1, []
    for j in range(len(A[0]) if A else 0):
        r = len(pivots); i = min((i for i in range(r, len(A)) if A[i][j]), key=lambda i: abs(A[i][j]), default=None)
        if i is None: continue
        A[r], A[i] = A[i], A[r]; top, p, pivots = A[r], A[r][j], pivots + [j]
        A, d = [row if k == r else [(p * a - row[j] * b) // d for a, b in zip(row, top)] for k, row in enumerate(A)], p
    return A[: len(pivots)], d, pivots
class Cholesky:  # A = L D Lᵀ in intervals: where every D is surely positive, every symmetric matrix in A is positive definite
    def __init__(self, A, limit=300):
        need(len(A) <= limit, "a matrix of %d rows is beyond this checker's limit of %d" % (len(A), limit))
        self.L, self.D = [], []
        for i, row in enumerate(A):
            v = self.forward(row)
            self.L.append([a / d for a, d in zip(v, self.D)])
            self.D.append(n(row[i]) - dot(v, self.L[i]))
            need(self.D[i] > 0, "a matrix that is not surely positive definite (pivot %d)" % i)
    def forward(self, q):  # L⁻¹q
        return functools.reduce(lambda v, k: [*v, n(q[k]) - dot(self.L[k], v)], range(len(self.L)), [])
    def form(self, q): return total(a**2 / d for a, d in zip(self.forward(q), self.D))  # qᵀA⁻¹q = Σ (L⁻¹q)ₖ²/Dₖ
    def reach(self, rows):
        """The largest xᵀA⁻¹x = ‖Tx‖² of rows of single numbers, T = D^-½L⁻¹. In whole numbers: a column of x in its unit 2^f, T2^f in
        one unit with ends a ≤ b. As a ≤ T2^f ≤ b, an entry of Tx is no farther from Σ ax than Σ (b − a) max |x|, which is `off`."""
        m, columns = range(len(self.D)), [aligned(c) for c in zip(*rows)]
        need(rows and all(low == high for low, high, _ in columns), "no rows, or rows that are not single numbers")
        inverse = [self.forward([int(i == j) for i in m]) for j in m]  # the columns of L⁻¹, which are zero above the diagonal
        T = [inverse[j][k] / d.sqrt() * N(1, None, columns[j][2]) for k, d in enumerate(self.D) for j in m[: k + 1]]
        low, high, unit = aligned(T)
        parts = [slice(k * (k + 1) // 2, (k + 1) * (k + 2) // 2) for k in m]  # the rows of T, up to the diagonal
        top = [max(map(abs, c)) for c, _, _ in columns]
        off = [sum((b - a) * t for a, b, t in zip(low[row], high[row], top)) for row in parts]
        T, least_, most = [low[row] for row in parts], 0, 0
        for x in zip(*(c for c, _, _ in columns)):
            far = [abs(sum(map(operator.mul, t, x))) for t in T]
            least_ = max(least_, sum(max(v - w, 0)**2 for v, w in zip(far, off)))
            most = max(most, sum((v + w)**2 for v, w in zip(far, off)))
        return N(least_, most, 2 * unit)
# -- optimality: F = Σ sᵢL(zᵢ, yᵢ) + ΛR(w) is at most Σ [sL + sL*(β/s) − βz] + Λ[R + R*(v) − v·w] above its minimum, Λv = −Σβx --
def plogp(a, s=N(1)): return N(0) if a.zero() else a * log(a / s)
sign, share, count, softplus = lambda y: abs(y) == 1, lambda y: 0 <= y <= 1, lambda y: y >= 0, lambda t: t.max0() + log(1 + exp(-abs(t)))
def inside(a, s=None): return a if a >= 0 and (s is None or a <= s) else need(False, "a dual variable outside its box")
def entropy(a, s=N(1)): return plogp(inside(a, s), s) + plogp(s - a, s)
LOSSES = {  # value L(z, y); s·L*(β/s), where a dual variable outside the domain is refused; which y are possible
    "hinge": (lambda z, y: (1 - z * y).max0(), lambda y, s, b: -inside(-b * y, s), sign),
    "perceptron": (lambda z, y: (-z * y).max0(), lambda y, s, b: inside(-b * y, s) * 0, sign),
    "squared_hinge": (lambda z, y: (1 - z * y).max0()**2, lambda y, s, b: b**2 / (4 * s) - inside(-b * y), sign),
    "logistic": (lambda z, y: softplus(-z * y), lambda y, s, b: entropy(-b * y, s), sign),
    "exponential": (lambda z, y: exp(-z * y), lambda y, s, b: plogp(inside(-b * y), s) + b * y, sign),
    "binomial": (lambda z, y: softplus(z) - z * y + entropy(y), lambda y, s, b: entropy(b + s * y, s) - s * entropy(y), share),
    "poisson": (lambda z, y: exp(z) - z * y + plogp(y) - y, lambda y, s, b: plogp(inside(b + s * y), s) - b - s * plogp(y), count),
    "gamma_log": (lambda z, y: y * exp(-z) + z - log(y) - 1, lambda y, s, b: plogp(inside(s - b), s) + b * log(y) + b, lambda y: y > 0)}
REAL = ("absolute", "squared factor", "epsilon_insensitive epsilon", "squared_epsilon_insensitive epsilon")
def loss_of(spec):  # losses of real targets are c times a power of (|z − y| − w)₊
    name, p = spec.name, spec.params; c, w, power = n(p.get("factor", 1.0)), n(p.get("epsilon", 0.0)), "squared" in name
    need(c > 0 and w >= 0 and " ".join([name, *p]) in (*REAL, *LOSSES), "a loss that this checker does not know: %s" % name)
    return LOSSES.get(name) or (lambda z, y: (lambda t: c * t**2 if power else t)((abs(z - y) - w).max0()), lambda y, s, b:
        b * y + abs(b) * w + (b**2 / (4 * c * s) if power else inside(s - abs(b)) * 0), lambda y: True)
def class_scores(name, z, code, s, b):  # s·L and the term of a row with a score for each class; P = b + s·e_y is s times probabilities
    P = [inside(v + s if k == code else v) for k, v in enumerate(b)]; need(total(b).zero(), "no probabilities")
    if name == "softmax": m = largest(z).ends()[1]; top, dual = m + log(total(exp(v - m) for v in z)), total(plogp(v, s) for v in P)
    else: top, dual = largest(v + int(k != code) for k, v in enumerate(z)), P[code] - s  # the hinge max (z_k + [k ≠ y]) − z_y
    return s * (top - z[code]), s * top + dual - dot(P, z)
def class_loss(z, code):  # −log of the label's probability and its slopes; a single score is the log odds of the second label
    if len(z) == 1: return softplus(z[0] * (1 - 2 * code)), [sigmoid(z[0]) - code]
    m = largest(z).ends()[1]; parts = [exp(v - m) for v in z]; S = total(parts)
    return m + log(S) - z[code], [v / S - int(k == code) for k, v in enumerate(parts)]
def elastic(rho, lam, w, q, inner):  # Λ Σ (ρ|w| + ½(1−ρ)w²) and its term, from w, q = Λv and Λv·w; ρ = 1 asks for |v| ≤ 1
    need(0 < rho <= 1, "no mixing parameter"); value = lam * (rho * total(abs(v) for v in w) + (1 - rho) * total(v**2 for v in w) / 2)
    if not (1 - rho).zero(): return value, value + total((abs(v) - rho * lam).max0()**2 for v in q) / (2 * (1 - rho) * lam) - inner
    need(all(abs(v) <= lam for v in q), "the dual variables are not in the dual ball"); return value, value - inner
def norm(v, p):  # the p-norm, from shares of the largest number, whose powers do not overflow
    v = [abs(a) for a in v if not a.zero()]; top = largest(v).ends()[1] if v else N(0)
    return top * exp(log(total(exp(p * log(a / top)) for a in v)) / p) if v else top
def penalty(spec, lam, W, Q):  # (ΛR(W), Λ[R(W) + R*(V) − V·W]) for coefficients W, one row an output, and Q = ΛV
    name, p = spec.name, spec.params; need(lam > 0, "without a penalty dual variables prove nothing")
    w, q = [v for row in W for v in row], [v for row in Q for v in row]; inner = dot(w, q)
    if name == "column_norms": return elastic(n(p.l1_ratio), lam, *([length(c) for c in zip(*M)] for M in (W, Q)), inner)  # of each column
    if name == "non_negative":  # with w ≥ 0 the conjugate sees the positive part of V only
        name, p, q = p.base.name, p.base.params, [v.max0() for v in q]; need(all(v >= 0 for v in w), "a negative coefficient")
    if name == "l2":
        c, prior = n(p.factor), vec(p.prior or [0.0] * len(w), len(w)); value = lam * c * away(w, prior); need(c > 0, "no factor")
        return value, value + total(v**2 for v in q) / (4 * c * lam) + dot(q, prior) - inner
    if name in ("l1", "elastic"): return elastic(n(p.l1_ratio) if name == "elastic" else N(1), lam, w, q, inner)
    if name == "none": need(all(v.zero() for v in q), "the dual variables are not orthogonal to the columns"); return N(0), -inner
    k = n(p.p) if name == "p_norm" else N(0); need(k > 1, "a penalty that this checker does not know: %s" % name)
    need(norm(q, k / (k - 1)) <= lam, "the dual variables are not in the dual ball"); return lam * norm(w, k), lam * norm(w, k) - inner
def machines(table, e):  # (objective, y columns, weights, outputs) of each machine: real targets, ±1 for one class against others, or codes
    given = e.objective if isinstance(e.objective, list) else [e.objective]; o, s = given[0], table.weight
    joint = o.classes is None and o.regularizer.name == "column_norms"; each = not joint and all(v.classes is None for v in given)
    need(len(given) == 1 or (each and len(given) == len(table.y)), "one objective, or one for each target, is needed")
    need({(truth(v.offset), v.stated) for v in given} == {(table.offset is not None, o.stated)}, "offsets only in data or objective")
    if joint: return [(o, table.y, s, len(table.y))]
    if each: return [(v, [y], s, 1) for v, y in zip(given * (len(table.y) // len(given)), table.y)]
    codes, k = table.codes(o.classes), len(o.classes); factor, every = [1.0] * k if o.class_weight is None else o.class_weight, range(k)
    need(len(factor) == k and all(0 <= v < math.inf for v in factor), "no class weights"); s = [a * factor[c] for a, c in zip(s, codes)]
    if o.loss.name in ("softmax", "multiclass_hinge"): return [(o, [codes], s, k)]
    sets = {"pairs": [(a, (a, b)) for a in every for b in every[a + 1 :]], "rest": [(a, every) for a in every]}[o.layout]
    sets = sets if k > 2 else [(1, every)]  # the class that is +1, and those that take part
    return [(o, [[1.0 if c == a else -1.0 for c in codes]], [v if c in part else 0.0 for v, c in zip(s, codes)], 1) for a, part in sets]
def scores(table, o, z, b): need(truth(o.fit_intercept) or b.zero(), "an offset"); return [v + b + a for v, a in zip(z, table.shift)]
def bounds(value, gap, o, s):  # the figures of a gap, of the mean or of the sum
    S = {"mean": total(vec(s)), "sum": N(1)}[o.stated]; value, gap = value / S, gap.max0() / S; bound = value - gap
    return {"value": near(value), "bound": low(bound), "gap": up(gap), **({"excess": up(gap / bound)} if bound > 0 else {})}
def prove_duality(table, e):
    value, gap, at = N(0), N(0), 0; rows = table.at(e.support) if "support" in e else list(range(table.rows))
    dual = dict(zip(rows, e.dual)); need(len(dual) == len(rows) == len(e.dual), "dual variables that do not fit")
    for o, y, s, outputs in machines(table, e):
        lam, padding, k = n(o.strength), o.padding, range(at, at + outputs); b, at = [n(e.intercept[j]) for j in k], at + outputs
        beta = [[n(dual[i][j]) if i in dual else N(0) for i in range(table.rows)] for j in k]
        need(not truth(o.fit_intercept) or padding is not None or all(total(c).zero() for c in beta), "unbalanced dual variables")
        if "nu" in e: need(abs(total(map(abs, sum(beta, []))) - n(e.nu) * total(vec(s))) <= total(vec(s)) * 1e-9, "another nu")
        if "kernel" in e or "gram" in e: Z, own, term = kernel_part(table, rows, e, o, vec(e.coef[k[0]]), beta)
        else:
            pad = [] if padding is None else [n(padding)]; need(all(v > 0 for v in pad), "a constant column that is not positive")
            W = [[*vec(e.coef[j]), *(v / p for p in pad)] for j, v in zip(k, b)]
            Q = [[*(-dot(x, c) for x in table.columns()), *(-total(c) * p for p in pad)] for c in beta]
            Z, (own, term) = [table.products(vec(e.coef[j])) for j in k], penalty(o.regularizer, lam, W, Q)
        L, G = rows_part(o.loss, y, vec(s), [scores(table, o, *v) for v in zip(Z, b)], beta); value, gap = value + own + L, gap + term + G
    need(at == len(e.intercept) == len(e.coef), "other coefficients"); return bounds(value, gap, o, machines(table, e)[0][2])
def rows_part(loss, y, s, Z, beta):  # Σ sL and Σ [sL + sL*(β/s) − βz]; a row without weight has no dual variable
    used = [i for i, w in enumerate(s) if w > 0]; need(all(w > 0 or v.zero() for c in beta for v, w in zip(c, s)), "a row without weight")
    if loss.name in ("softmax", "multiclass_hinge"):
        return map(total, zip(*(class_scores(loss.name, [z[i] for z in Z], y[0][i], s[i], [c[i] for c in beta]) for i in used)))
    value, conjugate, possible = loss_of(loss); need(all(possible(v) for column in y for v in column), "a label that the loss is not for")
    cells = [(s[i], n(column[i]), z[i], c[i]) for column, z, c in zip(y, Z, beta) for i in used]
    sum_ = total(w * value(z, v) for w, v, z, _ in cells); return sum_, sum_ + total(conjugate(v, w, b) - b * z for w, v, z, b in cells)
def kernel_part(table, rows, e, o, c, betas):  # w = Σ cⱼφ(xⱼ): the scores, Λf‖w‖², and Λf‖w − v/2f‖² with Λv = −Σβφ
    p, lam, K, (beta,) = o.regularizer.params, n(o.strength), gram(table, e, rows, True), betas; f = n(p.factor)
    need(o.regularizer.name == "l2" and p.prior is o.padding is None and f > 0 < lam and len(c) == len(rows), "no squared norm around zero")
    def square(v): return total(a * dot(K[j], v) for a, j in zip(v, rows)).max0()
    return [[dot(row, c) for row in K]], lam * f * square(c), lam * f * square([a + beta[j] / (2 * f * lam) for a, j in zip(c, rows)])
def hulls(table, e):  # w = Σ βⱼφ(xⱼ) joins two points of the hulls: signs, scores, ‖w‖, and half the distance ‖w‖/Σ|β| of the two points
    y, rows, beta = [2 * c - 1 for c in table.codes(e.classes)], table.at(e.support), vec(e.dual_coef[0])
    need(len(e.classes) == 2 and len(set(rows)) == len(rows) == len(beta) and total(beta).zero(), "multipliers that do not balance")
    need(all(b * y[i] >= 0 for b, i in zip(beta, rows)), "a negative multiplier"); f = [dot(row, beta) for row in gram(table, e, rows, 1)]
    length = total(b * f[i] for b, i in zip(beta, rows)).sqrt(); return y, f, length, length / total(abs(b) for b in beta)
def prove_hard_margin(table, e):  # w reaches its margin, and half the distance of two points of the hulls cannot be beaten
    y, f, length, bound = hulls(table, e); closest = least((v + n(e.intercept[0])) * s for v, s in zip(f, y))
    need(closest > 0, "a row that is not on its side"); value = closest / length
    return {"value": low(value), "bound": up(bound), "gap": up(bound - value), "relative_gap": up((bound - value) / bound)}
def prove_no_margin(table, e):  # two equal rows with different labels, or points of the hulls whose distance is rounding beside the radius
    if "twins" in e:
        (i, j), y = table.at(e.twins), table.codes(table.names())
        need(table.numbers() and table.X[i] == table.X[j] and y[i] != y[j], "no such twins"); return {"bound": up(N(0)), "rows": [i, j]}
    bound, K = hulls(table, e)[3], gram(table, e, range(table.rows), True); radius = largest(row[i] for i, row in enumerate(K)).sqrt()
    need(bound <= radius * 1e-7, "hulls that are apart"); return {"bound": up(bound), "radius": near(radius)}
SMOOTH = {  # slope and curvature, for losses with |φ‴| ≤ φ″
    "logistic": lambda z, y: SMOOTH["binomial"](z, (y + 1) / 2), "binomial": lambda z, y: (lambda p: (p - y, p - p * p))(sigmoid(z)),
    "exponential": lambda z, y: (-y * exp(-y * z), exp(-y * z)), "poisson": lambda z, y: (exp(z) - y, exp(z)),
    "gamma_log": lambda z, y: (1 - y * exp(-z), y * exp(-z)), "squared": lambda z, y: (2 * (z - y), N(2)), }
def scatter(weights, columns):  # Σ w x xᵀ of single numbers, its lower half
    (w, _, e), ints = aligned(weights), [aligned(c) for c in columns]
    return [[N(sum(map(operator.mul, heavy, x)), None, e + f + g) for x, _, g in ints[: k + 1]]
            for k, (c, _, f) in enumerate(ints) for heavy in [list(map(operator.mul, w, c))]]
def newton(table, o, y, s, coef, b):  # value, gradient, Hessian (from below), columns; a penalised offset is the weight b/B of a column B
    p, w, lam, free = o.regularizer, vec(coef), n(o.strength), o.padding is None; pad = N(1) if free else n(o.padding)
    if p.name == "non_negative": need(all(a >= 0 for a in w), "a negative coefficient where none may be"); p = p.params.base
    need(pad > 0 and p.name in ("l2", "none") and lam >= 0, "a penalty that this bound is not for")
    z, (value, _, possible) = scores(table, o, table.products(w), b), loss_of(o.loss)
    need(all(possible(v) for v in y), "a label that the bound is not for")
    f = n(o.loss.params.get("factor", 1.0)); both = [[f * k for k in SMOOTH[o.loss.name](a, n(v))] for a, v in zip(z, y)]
    columns = table.columns() + [[pad] * table.rows] * o.fit_intercept
    c, prior = (n(p.params.factor) * lam, p.params.prior) if p.name == "l2" else (N(0), None); need(c >= 0, "a factor < 0")
    away = [a - m for a, m in zip(w, vec(prior or [0.0] * len(w), len(w)))] + [N(0) if free else b / pad] * o.fit_intercept
    g = [dot([a * k[0] for a, k in zip(s, both)], column) + 2 * c * m for column, m in zip(columns, away)]
    H = scatter([(a * k[1]).floor() for a, k in zip(s, both)], columns)
    for i in range(len(H) - (free and o.fit_intercept)): H[i][i] = H[i][i] + 2 * c
    return total(a * value(v, n(t)) for a, v, t in zip(s, z, y)) + c * dot(away, away), g, H, columns
def prove_local(table, e):  # q² = gᵀH⁻¹g, r² = max x̃ᵀH⁻¹x̃, u = qr < 1: the objective is at most q²/(2(1 − u)) above its minimum
    (o, (y,), s, _), = machines(table, e); need(o.loss.name in SMOOTH, "a loss that this bound is not for")
    model = best = newton(table, o, y, vec(s), e.coef[0], n(e.intercept[0])); more = N(0)
    if "witness_coef" in e:  # a better point, from which the bound is taken
        w, b = (sum(v, []) if type(v[0]) is list else v for v in (e.witness_coef, e.witness_intercept))
        best = newton(table, o, y, vec(s), w, n(b[0])); more = model[0] - best[0]
    L, rows = Cholesky(best[2]), [x for i, x in enumerate(zip(*best[3])) if s[i]]; q = L.form(best[1])
    u = (q * L.reach(rows)).sqrt(); need(u < 1, "the Newton decrement is too large")
    return bounds(model[0], more + q / (2 * (1 - u)), o, s)
def excess(H, g, held):  # ½gᵀH⁺g at any rank; of g any μ ≥ 0 may be left out where d ≥ 0 is held: Hx = g − μ with x = 0 there, if μ ≥ 0
    free = [j for j in range(len(g)) if j not in held]; m = len(free) + 1; h = lambda i, j: H[max(i, j)][min(i, j)]
    ints = aligned([v for i in free for v in [h(i, j) for j in free] + [g[i]]])[0]; R, d, P = reduced(zip(*[iter(ints)] * m))
    x = [(free[j], r[-1]) for j, r in zip(P, R)]; wrong = [j for j in held if not (g[j] * d - total(h(i, j) * v for i, v in x)) * d >= 0]
    return excess(H, g, [j for j in held if j != wrong[0]]) if wrong else total(g[i] * v for i, v in x) / N(2 * d)
def excess_of_independent(H, g, held):  # the same in intervals, if the columns that are not held are independent; μ = 0 for their copies
    free = [j for j in range(len(g)) if j not in held]; h = lambda i, j: H[max(i, j)][min(i, j)]
    L = Cholesky([[h(i, j) for j in free[: k + 1]] for k, i in enumerate(free)])
    v = L.forward([g[i] for i in free]); x = [a / d for a, d in zip(v, L.D)]  # up to L⁻ᵀ
    copies = {j for j in held for i in free if (h(i, i) - 2 * h(i, j) + h(j, j)).zero()}  # Σ s(xᵢ − xⱼ)² = 0
    wrong = {j for j in held if j not in copies and not g[j] - dot(L.forward([h(i, j) for i in free]), x) >= 0}
    return excess_of_independent(H, g, [j for j in held if j not in wrong]) if wrong else dot(v, x) / 2
def quadratic_gap(H, g, held, value):  # of many columns first in intervals; where these leave it open, and more bits are asked for, exactly
    gaps = [value]  # as F ≥ 0
    if len(g) <= 100 or BITS > 192: return least([value, excess(H, g, held)])
    for bound in (lambda: excess_of_independent(H, g, held),  # or with all columns, and μ = g where it may be left out
                  lambda: Cholesky(H).form([N(0) if j in held and a >= 0 else a for j, a in enumerate(g)]) / 2):
        try: gaps.append(bound())
        except Refused: continue
    return least(gaps)
def prove_least_squares(table, e):  # F is ½gᵀH⁺g above its minimum; with w ≥ 0, a direction d ≥ 0 is held where w = 0
    value = gap = N(0)
    for k, (o, (y,), s, _) in enumerate(machines(table, e)):
        need(o.loss.name == "squared" and o.loss.params.factor == 1.0 and o.padding is None, "a loss or offset that the formula is not for")
        signed = o.regularizer.name == "non_negative"
        def at(w, b):  # F at a point, and how far it is above the minimum
            v, g, H, _ = newton(table, o, y, vec(s), w[k], n(b[k]))
            return v, quadratic_gap(H, g, [j for j, a in enumerate(w[k]) if signed and not a], v)
        here, above = at(e.coef, e.intercept); value = value + here
        if signed and "witness_coef" in e:  # a better point, from which the bound may be taken; without signs the formula is exact anywhere
            try: there, rest = at(e.witness_coef, e.witness_intercept); above = least((above, here - there + rest))
            except Refused: pass
        gap = gap + above
    need(len(e.coef) == len(e.intercept) == k + 1, "coefficients that do not fit"); return bounds(value, gap, o, s)
def numerators(values): return [int(v, 16) for v in values] if values and type(values[0]) is str else aligned(vec(values))[0]
def vanishing(table, codes, e, classes):  # Σ μ (e_own − e_other) ⊗ x̃ = 0 for a μ > 0, as stated at dependent rows: x̃, rows, rank
    pairs = [(whole(i, 0, table.rows), whole(k, 0, classes)) for i, k in zip(e.rows, e.against)]
    need(len(e.multipliers) == len(e.rows) == len(set(pairs)) > 0, "one multiplier for each named row is needed")
    need(all(codes[i] != k for i, k in pairs) and len(pairs) <= 4 * classes * (table.width + 2), "a row against its own class, or too many")
    X = [list(x) for x in zip(*[aligned(c)[0] for c in table.columns()] + [[1] * table.rows] * truth(e.fit_intercept))]  # in own units
    Z = [[v * ((c == codes[i]) - (c == k)) for c in range(1, classes) for v in X[i]] for i, k in pairs]
    (R, d, pivots), mu = reduced(zip(*Z)), numerators(e.multipliers); free = [j for j in range(len(Z)) if j not in set(pivots)]
    right = all(mu[j] > 0 for j in free) and all(sum(r[j] * mu[j] for j in free) * (d > 0 or -1) < 0 for r in R)
    need(right, "no positive mixture of the named rows vanishes"); return X, sorted({i for i, _ in pairs}), len(pivots)
def prove_separability(table, e):
    names, verdict = table.names(), e.verdict; classes, codes = len(names), table.codes(names)
    need(verdict in ("separable", "touching", "overlapping"), "an unknown verdict"); found = {"verdict": verdict, "classes": classes}
    if verdict != "separable": X, rows, rank = vanishing(table, codes, e, classes); found["witnesses"] = len(rows)
    if verdict == "overlapping":  # the null space of the named rows must be that of all rows
        R, d, pivots = reduced([X[i] for i in rows]); need(rank == (classes - 1) * len(pivots), "the named rows do not span enough")
        null = [[(j, d)] + [(p, -r[j]) for p, r in zip(pivots, R)] for j in set(range(len(X[0]))) - set(pivots)]
        need(not any(sum(row[k] * c for k, c in v) for v in null for row in X), "the named rows do not span all"); return found
    flat, k, width = e.weights, range(classes), table.width + truth(e.fit_intercept)  # the length of the weights does not matter
    flat = vec(numerators(sum(flat, []) if type(flat[0]) is list else flat), (classes - 1) * width)
    W = [[N(0)] * width] + [flat[c * width :][:width] for c in k[:-1]]; X = [[*x, N(1)][:width] for x in table.numbers()]
    Z = [[dot(x, w) for x in X] for w in W]; z = {(i, o): Z[c][i] - Z[o][i] for i, c in enumerate(codes) for o in k if o != c}
    need(least(z.values()) > 0 or (verdict == "touching" and least(z.values()) >= 0 < largest(z.values())), "a row on the wrong side")
    if verdict == "touching": return {**found, "on_the_boundary": sum(v.zero() for v in z.values())}
    closest = {(c, k): least(v for (i, o), v in z.items() if {codes[i], o} == {c, k}) for c in k for k in range(c)}
    def margin(d): return least(v / length(apart(W[c][:d], W[k][:d])) for (c, k), v in closest.items())  # d: without the offset
    if classes == 2: found["mistake_bound"] = up(largest(dot(x, x) for x in X) / margin(None)**2)
    return {**found, "margin": low(margin(table.width))}
def prove_perceptron(table, e):  # mistakes k ≤ (R/γ)² (Novikoff) from a start at zero; or a vanishing mixture, and it never stops
    labels, k, eta, made, bound = table.codes(e.classes), len(e.classes), n(e.eta0), 0, N(0); need(eta > 0, "a negative step")
    for c in [1] if k == 2 else range(k):
        tail = "_%d" % (0 if k == 2 else c); made += sum(e["times" + tail])
        part = Record({name[: -len(tail)]: v for name, v in e.items() if name.endswith(tail)}, fit_intercept=truth(e.fit_intercept))
        codes, rows, times = [int(v == c) for v in labels], table.at(part.mistaken), part.times
        need(set(part.class_weights) == {1.0} and not any(part.start), "class weights and other starts are beyond this checker")
        need(len(set(rows)) == len(rows) == len(times) and all(whole(t, 1) for t in times), "mistakes are counted once for each row")
        for j, end in enumerate(vec(part.coef, table.width + e.fit_intercept)):  # the sum of the steps, up to the rounding of each
            moves = [N(0)] + [n((table.X[i] + [1.0])[j]) * eta * (t if codes[i] else -t) for i, t in zip(rows, times)]
            slack = total(map(abs, moves)) * (4 * sum(times) + 16) * 2.0**-53 + 1e-300; need(abs(total(moves) - end) <= slack, "weights?")
        if part.verdict != "separable": bound = vanishing(table, codes, part, 2) and None
        elif bound is not None: bound = bound + prove_separability(Table(table.X, [[*map(float, codes)]]), part)["mistake_bound"][1]
    need(bound is None or N(made) <= bound.ends()[1], "more mistakes than are possible")
    return {"verdict": "not separable" if bound is None else "separable", "value": made, "bound": math.inf if bound is None else up(bound)}
SHAPES = {"sum": "kk", "product": "kk", "normalized": "k", "scaled": "nk", "linear": "", "rbf": "n", "polynomial": "nnn"}  # parameters
def is_mercer(record):  # Mercer by construction: sums, products, positive multiples and normalised forms of Mercer kernels are Mercer
    name, *rest = record; need("".join("nk"[type(r) is list] for r in rest) == SHAPES.get(name), "a kernel not known here: %s" % name)
    return all([is_mercer(r) if type(r) is list else n(r) >= 0 for r in rest]) and (name != "polynomial" or whole(rest[0], 1, 99) > 0)
def kernel(record, x, z, e):  # k(x, z) for rows of integers times 2^e
    name, rest = record[0], record[1:]; f = [kernel(r, x, z, e) if type(r) is list else n(r) for r in rest]
    if name in ("sum", "product", "scaled"): return f[0] + f[1] if name == "sum" else f[0] * f[1]
    if name == "normalized": return f[0] / (kernel(rest[0], x, x, e) * kernel(rest[0], z, z, e)).sqrt()
    if name == "rbf": return exp(-f[0] * N(sum((a - b) ** 2 for a, b in zip(x, z)), None, 2 * e))
    u = N(sum(map(int.__mul__, x, z)), None, 2 * e); return u if name == "linear" else (u * f[2] + f[1]) ** whole(rest[0], 1, 99)
def grid(rows, more=()):  # rows, and more of that width, as whole numbers times one power of two
    flat, _, ex = aligned(v for x in (*rows, *more) for v in x); d = len(rows[0]); need(all(len(q) == d for q in more), "other columns")
    ints = [flat[i * d : i * d + d] for i in range(len(rows) + len(more))]; return ints[: len(rows)], ints[len(rows) :], ex
def gram(table, e, rows, proved):  # kernel values of all rows with some: by a formula (Mercer where asked), from the evidence, or the table
    if e.get("kernel", ["given"]) in GIVEN:
        K = e.gram if "gram" in e else table.X; need(K == [list(c) for c in zip(*K)] and len(K) == table.rows, "no symmetric matrix")
        return [[row[j] for j in rows] for row in mat(K)]
    need(str(e.kernel).count("normalized") < 4, "too many kernels to normalise")  # each takes three values of the one inside
    need((is_mercer(e.kernel) or not proved) and table.rows * len(rows) <= 4000000, "a kernel not Mercer, or over 4000000 values")
    X, _, ex = grid(table.numbers()); return [[kernel(e.kernel, x, X[j], ex) for j in rows] for x in X]
def prove_mercer(table, e):
    how, K = e.method, [] if e.method == "construction" else gram(table, e, range(table.rows), False); bound = low(N(0))
    if how == "construction": need(is_mercer(e.kernel), "the kernel is not built from Mercer kernels")
    elif how == "vector": v = vec(e.vector); r = dot(v, [dot(row, v) for row in K]) / dot(v, v); bound = up(r); need(r < 0, "vᵀKv not < 0")
    else:
        t, top = n(e.shift), largest(abs(v) for row in K for v in row); square = [[*row[:i], row[i] + t] for i, row in enumerate(K)]
        bound = low(-t); need(how == "cholesky" and t <= top * 1e-9 and (top.zero() or Cholesky(square)), "a shift beyond rounding")
    return {"method": how, "verdict": "not mercer" if how == "vector" else "mercer", "least_eigenvalue": bound}
def lift(B, size):  # what makes B positive definite when it is added to the diagonal: nothing, or the first of size·2^-60, size·2^-58, ...
    for more in [N(0), *(size * N(1, None, -k) for k in range(60, 20, -2))]:
        try: Cholesky([[*row[:i], row[i] + more] for i, row in enumerate(B)]); return more
        except Refused as why: last = why
    raise last
def prove_principal_components(table, e):  # if Σ(λₖ − μ)uₖuₖᵀ + (μ + τ)I − A ⪰ 0, no subspace of that size keeps more than its trace
    tau, w, d, U = n(e.slack), table.w, range(table.width), mat(e.components, None, table.width)
    S, columns = total(w), table.columns(); mean, H = [dot(w, c) / S for c in columns], scatter(w, columns)
    A, values = [[(H[max(i, j)][min(i, j)] - S * mean[i] * mean[j]) / (S - 1) for j in d] for i in d], vec(e.variances, len(U))
    skew = total((dot(u, v) - int(k == m))**2 for k, u in enumerate(U) for m, v in enumerate(U)).sqrt().ends()[1]; mu = [N(0), *values][-1]
    need(skew < 1e-5 and S > 1 and all(v >= values[-1] for v in values), "components not orthonormal, or variances out of order")
    kept, trace = total(u[i] * dot(A[i], u) for u in U for i in d) / (1 + join(-skew, skew)), total(A[i][i] for i in d)
    B = [[total((v - mu) * u[i] * u[j] for u, v in zip(U, values)) - A[i][j] + (mu + tau if i == j else 0) for j in d] for i in d]
    more = None if len(U) == len(d) else lift(B, trace) if U else N(0)  # what the diagonal needs on top
    bound = least((trace, total(dot(u, u) * (v - mu) for u, v in zip(U, values)) + (mu + tau + more) * len(U))) if more else trace
    gap = (bound - kept).max0(); found = {"components": len(U), "value": low(kept), "bound": up(bound), "gap": up(gap)}
    return {**found, **({"relative_gap": up(gap / trace)} if trace > 0 else {}), "reconstruction_error": up(trace - kept)}
def distances(e, w, X, q):  # of all rows, exactly: the power p of the distance, and p; of the cosine −s|s|/‖x‖², or 0 for a row of zeros
    if e.metric == "cosine":
        inner = [(sum(c * a * b for c, a, b in zip(w, x, q)), sum(c * a * a for c, a in zip(w, x))) for x in X]
        return [fractions.Fraction(-s * abs(s), size) if size else 0 for s, size in inner], 2
    how, fixed = {"euclidean": (sum, 2), "manhattan": (sum, 1), "chebyshev": (max, 1), "minkowski": (sum, None)}[e.metric]
    p = fixed or whole(e.p, 1, 99); return [how(c * abs(a - b) ** p for c, a, b in zip(w, x, q)) for x in X], p
def nearest(table, e, queries):  # for each query the (distance, row) of all rows but its own, sorted; the unit and power of these; ‖q‖²
    (w, _, f), own = aligned(vec(e.get("weights") or [1.0] * table.width)), e.get("own"); X, Q, ex = grid(table.numbers(), mat(queries))
    need(len(w) == table.width and all(v >= 0 for v in w) and len(own or Q) == len(Q) == len(queries) > 0, "no such queries or weights")
    for at, q in enumerate(Q):
        mine = None if own is None else whole(own[at], 0, table.rows); need(mine is None or X[mine] == q, "a query that is another row")
        far, p = distances(e, w, X, q); size = sum(c * a * a for c, a in zip(w, q))
        yield sorted((d, i) for i, d in enumerate(far) if i != mine), fractions.Fraction(2) ** (p * ex + f), p, size
def listed(orders, lists):  # the stated rows are the first of each order
    k, orders = len(lists[0]), [[i for _, i in order[: len(lists[0])]] for order, *_ in orders]
    need(k > 0 and orders == [[*map(whole, rows)] for rows in lists], "others are nearer"); return {"queries": len(orders), "neighbors": k}
def prove_neighbors(table, e): return listed(nearest(table, e, e.queries), e.indices)
def prove_neighbors_given_distances(table, e):
    need(all(len(d) == table.rows and min(d) >= 0 and vec(d) for d in e.distances), "distances that do not fit, or are none")
    return listed(([sorted(zip(d, range(table.rows)))] for d in e.distances), e.indices)
def prove_constant(table, e):  # the mean is best for squared loss, the class shares are for log loss: excess ≤ Σ(p−q)²/q + |1 − Σq|
    need(e.loss in ("squared", "log") and len(table.y) == 1, "a loss that this checker does not know, or several targets")
    p, q = (table.shares(e.classes), vec(e.shares, len(e.classes))) if e.loss == "log" else ([], [])
    r, S = [v - e.value[0] for v in vec(table.y[0])] if not p else [], total(table.w)
    if e.loss == "squared": value, gap = dot(table.w, [v**2 for v in r]) / S, (dot(table.w, r) / S)**2
    else: value, gap = -dot(p, [log(v) for v in q]), total((a - b)**2 / b for a, b in zip(p, q)) + abs(total(q) - 1)
    need(all(0 < v <= 1 for v in q), "shares that are no probabilities"); return {"value": near(value), "gap": up(gap)}
def prove_finite_bayes(table, e):
    prior, stated, tiny = vec(e.priors), vec(e.posterior, len(e.priors)), 1e-9; need(table.rows <= 5000, "over 5000 outcomes")
    likely, seen = mat(e.likelihoods, len(prior), len(e.outcomes)), Table(table.X, [[x[0] for x in table.X]]).codes(e.outcomes)
    for row in [prior, stated, *likely]: need(all(v >= 0 for v in row) and abs(total(row) - 1) <= tiny, "these are no probabilities")
    joint, wrong = [math.prod([row[k] for k in seen], start=p) for p, row in zip(prior, likely)], abs(total(stated) - 1)
    error = largest(abs(p / total(joint) - s) for p, s in zip(joint, stated)); need(error <= tiny, "another posterior")
    return {"log_evidence": near(log(total(joint))), "error": up(error), "sum_error": up(wrong), "observations": table.rows}
def moments(w, x, rows):  # mean and variance of some rows of a column
    W = total(w[i] for i in rows); m = total(w[i] * x[i] for i in rows) / W; return m, total(w[i] * (x[i] - m)**2 for i in rows) / W
def priors(table, e):  # how far the stated class shares are from what their rule says: those of the data, equal ones, or given ones
    p, stated = table.shares(e.classes), vec(e.class_prior, len(e.classes)); need(all(v >= 0 for v in stated), "no probabilities")
    return up(largest(apart(stated, {"data": p, "uniform": [N(1) / len(p)] * len(p), "given": stated}[e.prior_rule])))
def prove_gaussian_counts(table, e):  # shares, means and variances are those of the data: errors in standard deviations, and as shares
    rows, w, smooth, mixed, d = table.groups(e.classes), table.w, n(e.var_smoothing), "numeric" in e, range(table.width)
    theta, var = [mat(e[k], len(rows), len(d)) for k in ("theta", "var")]; need(smooth >= 0 and least(sum(var, [])) > 0, "no variance")
    known = [{i: n(x[j]) for i, x in enumerate(table.X) if not mixed or (x[j] == x[j] and table.weight[i])} for j in d]  # not missing
    spread = [moments(w, x, x)[1] for x in known]; extra = spread if mixed else [largest(spread)] * len(d)
    cells = [(*moments(w, x, [i for i in here if i in x] or (mixed and x)), t, v, smooth * more)
             for here, T, V in zip(rows, theta, var) for x, t, v, more in zip(known, T, V, extra)]
    off, wrong = [abs(a - t) / v.sqrt() for a, _, t, v, _ in cells], [abs(b + more - v) / v for _, b, _, v, more in cells]
    return {"mean_error": up(largest(off)), "variance_error": up(largest(wrong)), "prior_error": priors(table, e)}
def pull(w, X, rows, c):  # how far the squared distances of rows to a point are above those to their mean
    return total(total(w[i] * (X[i][j] - v) for i in rows)**2 for j, v in enumerate(c)) / total(w[i] for i in rows)
def smoothing(a, d): a = vec(a if type(a) is list else [a] * d, d); need(least(a) >= 0, "a negative α"); return a  # α for each column
def prove_smoothed_counts(table, e):  # every probability is (count + α)/Σ(count + α) in its class and feature, up to `gradient` as a share
    w, model, d, cut, worst, sums = table.w, e.model, range(table.width), e.get("binarize"), [], []
    alpha, rows, sizes = smoothing(e.alpha, table.width), table.groups(e.classes), [whole(m, 1, 10**6) for m in e.get("n_categories", ())]
    def on(v): return n(v) if cut is None else N(int(n(v) > n(cut)))
    groups = {"multinomial": [[(j, n) for j in d]], "bernoulli": [[(j, on), (j, lambda v: 1 - on(v))] for j in d],  # what cells count for
              "categorical": [[(j, lambda v, k=k: N(int(v == k))) for k in range(m)] for j, m in enumerate(sizes)]}[model]
    known = model != "categorical" or all((v != v and "numeric" in e) or whole(v, 0, m) >= 0 for x in table.X for v, m in zip(x, sizes))
    need(known and len(sizes) in (0, len(d)), "categories that do not fit the columns")  # a missing cell of a mixed table counts for none
    for here, row in itertools.zip_longest(rows, e.feature_log_prob):
        p = [exp(n(v)) if v > -math.inf else N(0) for v in row]; p = iter([q for v in p for q in (v, 1 - v)] if model == "bernoulli" else p)
        for group in groups:
            a, q = [total([alpha[j]] + [w[i] * of(table.X[i][j]) for i in here]) for j, of in group], [next(p) for _ in group]
            need(all(v >= 0 for v in a), "a negative count"); sums.append(abs(total(q) - 1))
            worst += [abs(x / total(a) - y) / y if y > 0 else x for x, y in zip(a, q)]
        need(next(p, None) is None, "too many probabilities")
    need(all(v <= 1e-8 for v in worst + sums), "a probability that is not its smoothed share")
    return {"gradient": up(largest(worst)), "sum_error": up(largest(sums)), "prior_error": priors(table, e)}
def coded(cells, names):  # a column as numbers: words by their places among the names, NaN where a cell is missing
    lost, place = {"nan", "None", "<NA>", "NaT"}, {str(key(v)): float(k) for k, v in enumerate(names or ())}
    need(len(place) == len(names or ()) and lost.isdisjoint(place), "a category that is named twice, or like what is missing")
    found = [math.nan if v != v or v in lost else v if names is None else place.get(str(key(v)), math.inf) for v in cells]
    need(not {math.inf, -math.inf} & {*found}, "an infinite cell, or a category without a name"); return found
logarithm, squares = functools.lru_cache(2**16)(lambda k, bits: log(N(k))), lambda W, *sums: N(sum(s * s for s in sums)) / W
def logs(W, *sums): return total((logarithm(s, BITS) - logarithm(W, BITS)) * s for s in sums if s not in (0, W))  # Σ s log(s/W)
CRITERIA = {  # for classes?; the worth of a side, from its weight and sums; what each row adds to the impurity, which is less the worth
    "gini": (True, squares, lambda y: N(1)), "squared_error": (False, squares, lambda y: y**2), "poisson": (False, logs, plogp),
    "entropy": (True, lambda *side: logs(*side) / logarithm(2, BITS), lambda y: N(0)), "absolute_error": (False, None, lambda y: N(0))}
def tree_targets(table, e, of_classes, formula):  # targets; weight and terms of the sums of each row, and their unit; the worth of a side
    names, s = e.get("classes") or [], table.weight; need(bool(names) == of_classes and len(names) in (0, len(table.y)), "other classes")
    Y = [Table(table.X, [y]).codes(c, 1) for y, c in zip(table.y, names)] or [vec(y) for y in table.y]
    for y, f in zip(Y, e.get("class_weight") or []): s = [a * f[c] for a, c in zip(s, y)]
    s, Z = vec(s), [[N(int(v == k)) for v in y] for y in Y for k in range(max(map(len, names)))] if names else Y
    grids = [(y, sorted({*y}), at) for y, _, at in (() if formula else map(aligned, Y))]
    if grids: Z = [[N(int(v <= a)) for v in y] for y, steps, _ in grids for a in steps[:-1]]  # sums: masses below steps
    def least_costs(W, *sums):  # the least Σ w|y − c| of each target: a step counts for the smaller mass, of those below or above it
        sums = iter(sums); return [N(sum(min(m, W - m) * (b - a) for a, b, m in zip(v, v[1:], sums)), None, at) for _, v, at in grids]
    flat, _, unit = aligned(itertools.chain(s, *([a * v for a, v in zip(s, z)] for z in Z))); need(least(s) >= 0, "a negative class weight")
    return Y, unit, [flat[i :: table.rows] for i in range(table.rows)], formula or (lambda *side: -total(least_costs(*side))), least_costs
def divisions(here, cells, parts, e, named):  # how many rows may go left by a column, and their sums; missing cells (None) last, then first
    atoms, few = {}, len((e.get("classes") or [[]])[0]) < 3  # two classes, or numbers: a best group of categories is first by its means
    for i in here: atoms.setdefault(cells[i] if cells[i] == cells[i] else None, []).append(i)
    sums = {v: [len(rows), *map(sum, zip(*(parts[i] for i in rows)))] for v, rows in atoms.items()}
    lost, known = [None] * (None in atoms), sorted({*atoms} - {None}); orders = [known + lost, lost + known][: 1 + len(lost)]
    if named and few: orders = [sorted(atoms, key=lambda v: fractions.Fraction(sums[v][-1], sums[v][1]))]
    elif named: orders = [v for k in range(1, min(len(atoms), 11)) for v in itertools.combinations([*atoms][1:], k)]
    need(not named or (len(orders) < 512 and e.criterion != "absolute_error"), "groups of categories that are too many to compare")
    for order in orders:
        added = itertools.accumulate(map(sums.get, order), lambda a, b: [*map(operator.add, a, b)])
        yield from (v for v, a, b in zip(added, order, [*order[1:], None]) if named or not e.get("precision") or told_apart(a, b))
def told_apart(a, b):  # whether b > a + 1e-7 in single precision, as scikit-learn divides numbers; a missing one from any other
    single = lambda v: struct.unpack("f", struct.pack("f", v))[0]; return None in (a, b) or single(b) > single(single(a) + single(1e-7))
def prove_tree_general(table, e):  # no other division of a split node gains more by over `shortfall`; no pruning costs less
    known = e.get("precision") in (None, "single") and e.get("monotonic") is None and e.get("splitter", "best") in ("best", "random")
    need(known, "a tree grown by rules not known here"); compared = e.get("splitter") != "random"  # thresholds that were drawn are not
    of_classes, formula, term = CRITERIA[{"log_loss": "entropy", "friedman_mse": "squared_error"}.get(e.criterion, e.criterion)]
    (Y, unit, parts, worth, least_costs), d = tree_targets(table, e, of_classes, formula), range(table.width); w = [p[0] for p in parts]
    names, held, drawn, tol = e.get("categories") or [None] * len(d), e.get("validation") or [], e.get("drawn"), n(1e-9)
    X, alpha, light, few = [coded(*c) for c in zip(zip(*table.X), names)], n(e.alpha), n(e.min_weight_leaf), whole(e.min_samples_leaf, 1)
    tests, used = {i for i in table.at(held) if w[i]}, {i for i, v in enumerate(w) if v}; mass = sum(w[i] for i in used - tests) * len(Y)
    need(alpha >= 0 <= light and len({*held}) == len(held) and (len(Y) == 1 or not (held or any(names))), "rules that do not fit")
    seen, short, eta = {}, [N(0)], 1e-307 * of_classes  # a share of a class may underflow
    def weigh(rows): return [sum(c) for c in zip(*(parts[i] for i in rows))]
    def goes_left(t, i):  # by the side for missing cells, a threshold, or a group of categories
        j = whole(e.feature[t], 0, len(d)); v, group = X[j][i], None if names[j] is None else e.sets[whole(e.group[t], 0)]
        return e.missing_left[t] == 1 if v != v else v <= e.threshold[t] if group is None else group[int(v)] == 1
    def node(t, here, tried):  # the least cost of a pruning below a node, the cost of the stated one, and its impurity
        side, value, y = weigh(here), e.value[t], Y[0]; stated, right = vec(sum(value, [])), [N(v) / side[0] for v in side[1:]]
        pure = len({*zip(*([y[i] for i in here] for y in table.y))}) == 1  # then the impurity is 0, which intervals leave open
        impure = seen[t] = N(0) if pure else (total(term(y[i]) * w[i] for y in Y for i in here) - worth(*side)) / mass
        if formula: off, size = apart(stated, right), right if of_classes else [largest(abs(y[i]) for i in here) for y in Y]
        else: size = least_costs(*side); off = [total(abs(y[i] - a) * w[i] for i in here) - v for a, y, v in zip(stated, Y, size)]
        need(len(stated) == len(size) and all(a <= b * tol + (b > 0) * eta for a, b in zip(off, size)), "node %d: a wrong value" % t)
        top = value[0].index(max(value[0])); misses = (int(y[i] != top) if of_classes else (stated[0] - y[i])**2 for i in tried)
        price = total(N(w[i]) * miss for i, miss in zip(tried, misses)) if held else impure + alpha
        if e.left[t] < 0: return need(not truth(e.asks[t]), "a leaf that asks") or (price, price, impure)
        below, looked = [whole(e[k][t], t + 1) for k in ("left", "right")], [j for j in d if not drawn or drawn[t][j] == 1]
        sides = [[[i for i in rows if goes_left(t, i) == yes] for rows in (here, tried)] for yes in (True, False)]
        sums, many = [weigh(rows) for rows, _ in sides], [len(rows) for rows, _ in sides]; own = total(worth(*v) for v in sums)
        need(min(many) >= few and N(min(sums)[0], None, unit) >= light * (1 - tol) and e.feature[t] in looked, "node %d: no split" % t)
        for count, *left in (v for j in looked * compared for v in divisions(here, X[j], parts, e, names[j] is not None)):
            rest = [*map(operator.sub, side, left)]
            if min(count, len(here) - count) < few or left in sums: continue  # not allowed, or worth the same
            if (light.lo and N(min(left[0], rest[0]), None, unit) < light * (1 + tol)) or (formula is logs and 0 in left + rest): continue
            gain = worth(*left) + worth(*rest) - own
            if not gain <= 0: short.append((gain / mass).max0()); need(short[-1] <= impure * tol, "node %d: a better split" % t)
        need(len({*below} - {*seen}) == 2 and truth(e.asks[t]) >= max(e.asks[i] for i in below), "node %d: no node of a tree" % t)
        a, b = [node(child, *rows) for child, rows in zip(below, sides)]; best = least((price, a[0] + b[0]))
        return (best, a[1] + b[1], a[2] + b[2]) if e.asks[t] else (best, price, impure)
    (best, kept, impure), yes = node(0, sorted(used - tests), sorted(tests)), sum(e.asks); lost = (kept - best).max0() * int(len(seen) > 1)
    tiny = (abs(seen[0]) + int(of_classes)) * 1e-30; need(len(seen) == len(e.left) and lost <= kept * tol + tiny, "a better pruning exists")
    found = {"validation_loss": near(kept / sum(w[i] for i in tests))} if held else {"pruning_shortfall": up(lost)}
    found = {**found, "shortfall": up(largest(short))} if compared else found
    return {**found, "questions": yes, "leaves": yes + 1, "outputs": len(Y), "impurity": near(impure)}
def prove_tree(table, e, several=("classes", "class_weight")):  # for one target
    return prove_tree_general(table, Record(e, value=[[v] for v in e.value], **{k: [e[k]] for k in several if e.get(k)}))
def away(x, c): return total((a - b)**2 for a, b in zip(x, c))
def prove_kernel_perceptron(table, e):  # Σ R²/γ² over the classes against the others, γ the margin that the sum of the updates reaches
    codes, k, one, made, bound, split, no = table.codes(e.classes), range(len(e.classes)), int(truth(e.fit_intercept)), 0, N(0), True, False
    K, problems = gram(table, e, range(table.rows), 0), [1] if len(k) == 2 else k; R = largest(row[i] for i, row in enumerate(K)) + one
    need(set(codes) == set(k) and [*map(len, e.mistakes)] == [table.rows] * len(problems), "mistakes or classes that do not fit")
    for c, times in zip(problems, e.mistakes):
        y = [1 if v == c else -1 for v in codes]; beta, made = [N(whole(t, 0) * s) for t, s in zip(times, y)], made + sum(map(whole, times))
        f = [dot(row, beta) + total(beta) * one for row in K]; margin, square = least(a * b for a, b in zip(f, y)), dot(beta, f)
        split = split and margin > 0 < square; bound, no = bound + R * square / margin**2 if split else N(0), no or margin <= 0
    need(split or no, "a score that rounding leaves open")
    if not split or not (e.kernel in GIVEN or is_mercer(e.kernel)): return {"value": made, "separated": split}
    need(N(made) <= bound.ends()[1], "more mistakes than are possible"); return {"value": made, "separated": True, "bound": up(bound)}
ASSUMED, KINDS = {}, {name[6:].replace("_", "-"): f for name, f in sorted(globals().items()) if name.startswith("prove_")}
def supports(stated, proved):  # whether what was proved backs a stated figure: a bound, a value to 1e-9, or an equal word or count
    if not isinstance(proved, tuple): return type(stated) in (type(proved), int, float) and stated == proved
    if type(stated) not in (int, float) or not math.isfinite(stated): return False
    (how, v, size), x = proved, n(stated); return {"upper": v <= x, "lower": v >= x, "about": abs(v - x) <= size * 1e-9 + 1e-300}[how]
MORE = ("checker_variants.py", "checker_families.py", "checker_partitions.py")  # the other kinds; each file adds its own to KINDS
def check_of(kind):
    for path in map(pathlib.Path(__file__).with_name, MORE):
        if kind not in KINDS and path.exists():
            spec = importlib.util.spec_from_file_location(path.stem, path)
            module = importlib.util.module_from_spec(spec)
            module.checker = sys.modules[__name__]
            spec.loader.exec_module(module)
    need(kind in KINDS, "a kind that is unknown here: %r; those that checker.py does not know are in %s, %s and %s" % (kind, *MORE))
    return KINDS[kind]
def settled(prove, table, e, figures, bits=192):  # what is proved, with more bits where rounding left a comparison open and that may matter
    global BITS; BITS, N.undecided = bits, False
    try:
        proved = {"rows": table.rows, **prove(table, e)}
        enough = all(k in proved and supports(v, proved[k]) for k, v in figures.items())
    except Refused:
        if not N.undecided or bits > 3000: raise
        enough = False
    return proved if enough or not N.undecided or bits > 3000 else settled(prove, table, e, figures, 4 * bits)
def check(proof, table, say=print):  # every step in words; raises Refused where the claim is not proved
    need(proof.get("format") == "certifit-proof" and proof.get("version") == 1, "not a certifit proof of version 1")
    prove = check_of(proof["kind"])
    facts = {"rows": table.rows, "columns": table.width, "weights": table.given is not None, "offset": table.offset is not None}
    data = dict(proof["data"]); parts = data.pop("partitions", None)
    digests = [table.digest(False), table.digest(True)] if parts is None else [table.root(parts)]
    need(any(data == {"sha256": v, **facts} for v in digests), "these are other data than those of the proof")
    say("ok  the data are those of the proof: %d rows, %d columns" % (table.rows, table.width))
    figures, e = decoded(proof["figures"]), decoded(proof["evidence"])
    for name, text in ((k, str(v)) for k, v in e.items()): say("--  given %s: %s" % (name, text if len(text) < 500 else text[:60] + " ..."))
    proved = settled(prove, table, e, figures)
    need(figures and set(figures) <= set(proved), "figures that this checker does not prove: %s" % sorted(set(figures) - set(proved)))
    for name in sorted(figures):
        shown = "%s %s" % proved[name][:2] if isinstance(proved[name], tuple) else "%r" % (proved[name],)
        need(supports(figures[name], proved[name]), "%s is stated as %r, but only %s is proved" % (name, figures[name], shown))
        say("ok  %s: stated %r, proved %s" % (name, figures[name], shown))
    if ("gram" in e or e.get("kernel") in GIVEN) and proof["kind"] != "mercer": say("assumed: the given values come from a Mercer kernel")
    if e.get("graph") == "given": say("assumed: the given weights are those of the graph")
    if proof["kind"] in ASSUMED: say("assumed: " + ASSUMED[proof["kind"]])
def main(args: list) -> int:
    if len(args) < 2: return print("usage: python checker.py fit.proof data.csv    (or X.npy y.npy ...)") or 2
    def say(text): return print("".join(c if c.isprintable() else "?" for c in text)) or 0  # no enemy's text steers the terminal
    try: check(json.loads(pathlib.Path(args[0]).read_text("utf8"), object_pairs_hook=once), read_table(args[1:]), say); return say("PROVED")
    except Exception as error:  # whatever goes wrong, nothing is proved
        why = str(error) if isinstance(error, Refused) else "proof or data are not well-formed (%s: %s)" % (type(error).__name__, error)
        return say("NOT PROVED: %s" % " ".join(why.split())) or 1
if __name__ == "__main__": sys.stdout.reconfigure(errors="replace"); sys.exit(main(sys.argv[1:]))  # for terminals without Greek letters
