"""Judges what a game claims: points that are in the set for certain, 90 digits, no import of it.

A claim is shown to be false by one feasible point: if `lower` is above the value there, or
the answer is further above that value than `gap`. So the judge looks for points as good as
it can find, face by face with Newton's method, and a bad search can only make it lenient,
never unjust. For quadratics, and smooth functions on the right face, the point is the
minimiser to 1e-60. Numbers are balls of python-flint; comparisons hold for certain.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field

import numpy as np
from flint import arb, arb_mat, ctx

ctx.prec = 300


def exact(numbers) -> list[arb]:
    return [arb(float(number)) for number in np.ravel(numbers)]


def middle(numbers) -> list[arb]:
    """The same numbers without their radius: any point is as good as another."""
    return [number.mid() for number in numbers]


def inner(a, b) -> arb:
    return sum((x * y for x, y in zip(a, b, strict=True)), arb(0))


@dataclass
class Function:
    """f given by name and data: value, slope and curvature at a point of balls.

    quadratic: matrix, linear, constant; squares: rows, targets; logistic: rows, labels;
    huber, logsumexp: width; entropy; planes: rows, offsets
    """

    kind: str
    data: tuple = ()
    rows: list = field(default_factory=list)

    def __post_init__(self):
        if self.kind in ("squares", "logistic", "planes", "quadratic"):
            self.rows = [exact(row) for row in np.atleast_2d(self.data[0])]
            self.extra = exact(self.data[1])
        if self.kind in ("huber", "logsumexp"):
            self.width = arb(float(self.data[0]))

    def value(self, x) -> arb:
        if self.kind == "quadratic":
            square = inner(x, [inner(row, x) for row in self.rows])
            return square / 2 + inner(self.extra, x) + arb(float(self.data[2]))
        images = [inner(row, x) for row in self.rows]
        if self.kind == "squares":
            return sum(((a - b) ** 2 for a, b in zip(images, self.extra, strict=True)), arb(0)) / 2
        if self.kind == "logistic":
            return sum((self._softplus(-b * a) for a, b in zip(images, self.extra, strict=True)),
                       arb(0))  # fmt: skip
        if self.kind == "planes":
            heights = [a + b for a, b in zip(images, self.extra, strict=True)]
            best = heights[0]
            for height in heights[1:]:
                best = best.max(height)
            return best
        if self.kind == "huber":
            return sum((self._huber(t) for t in x), arb(0))
        if self.kind == "logsumexp":
            top = max(x, key=lambda t: float(t.mid()))
            return top + self.width * sum((((t - top) / self.width).exp() for t in x), arb(0)).log()
        return sum((t * t.log() if t != 0 else arb(0) for t in x), arb(0))

    def _softplus(self, t) -> arb:
        return (1 + t.exp()).log() if t < 0 else t + (1 + (-t).exp()).log()

    def _huber(self, t) -> arb:
        size = abs(t)
        return t * t / 2 if size <= self.width else self.width * size - self.width**2 / 2

    def slope_and_curvature(self, x):
        n = len(x)
        if self.kind == "quadratic":
            both = [[(self.rows[i][j] + self.rows[j][i]) / 2 for j in range(n)] for i in range(n)]
            return [inner(row, x) + q for row, q in zip(both, self.extra, strict=True)], both
        zero = [[arb(0)] * n for _ in range(n)]
        if self.kind in ("squares", "logistic"):
            slope, weight = [], []
            for row, b in zip(self.rows, self.extra, strict=True):
                if self.kind == "squares":
                    slope.append(inner(row, x) - b)
                    weight.append(arb(1))
                else:
                    p = 1 / (1 + (b * inner(row, x)).exp())
                    slope.append(-b * p)
                    weight.append(p * (1 - p))
            columns = list(zip(*self.rows, strict=True))
            curvature = [[sum((w * a * c for w, a, c in zip(weight, one, two, strict=True)),
                              arb(0)) for two in columns] for one in columns]  # fmt: skip
            return [inner(column, slope) for column in columns], curvature
        if self.kind == "huber":
            inside = [abs(t) <= self.width for t in x]
            slope = [t if i else self.width * (1 if t > 0 else -1)
                     for t, i in zip(x, inside, strict=True)]  # fmt: skip
            return slope, [[arb(int(inside[i] and i == j)) for j in range(n)] for i in range(n)]
        if self.kind == "logsumexp":
            top = max(x, key=lambda t: float(t.mid()))
            p = [((t - top) / self.width).exp() for t in x]
            p = [t / sum(p, arb(0)) for t in p]
            return p, [[(p[i] * int(i == j) - p[i] * p[j]) / self.width for j in range(n)]
                       for i in range(n)]  # fmt: skip
        if self.kind == "entropy":
            slope = [t.log() + 1 if t > 0 else arb(-1000) for t in x]
            return slope, [[1 / x[i] if i == j and x[i] > 0 else arb(int(i == j))
                            for j in range(n)] for i in range(n)]  # fmt: skip
        values = [inner(row, x) + b for row, b in zip(self.rows, self.extra, strict=True)]
        top = max(range(len(values)), key=lambda i: float(values[i].mid()))
        return self.rows[top], zero


def newton(f: Function, maps, shift, tilt, guess, turns: int) -> list[arb]:
    """Nearly the least f(maps·u + shift) + ⟨tilt, u⟩ over u; `maps` is a list of columns."""
    u = middle(guess)
    k, n = len(maps), len(shift)

    def place(u):
        return [shift[i] + sum((maps[j][i] * u[j] for j in range(k)), arb(0)) for i in range(n)]

    def height(u):
        return f.value(place(u)) + inner(tilt, u)

    now = height(u)
    for _ in range(turns):
        slope, curvature = f.slope_and_curvature(middle(place(u)))
        g = [inner(column, slope) + t for column, t in zip(maps, tilt, strict=True)]
        H = [[inner(a, [inner(row, b) for row in curvature]) for b in maps] for a in maps]
        top = max([float(abs(H[i][i]).mid()) for i in range(k)] + [0.0]) or 1.0
        ridge = arb(top) * arb(2) ** -180
        try:
            step = arb_mat([[H[i][j] + ridge * int(i == j) for j in range(k)] for i in range(k)])
            step = step.solve(arb_mat([[t] for t in g]), algorithm="approx")
        except ZeroDivisionError:
            break
        share, moved = arb(1), False
        for _ in range(40):
            following = middle([u[i] - share * step[i, 0] for i in range(k)])
            then = height(following)
            if then.is_finite() and then < now:
                u, now, moved = following, then, True
                break
            share = share / 4
        if not moved:
            break
    return middle(place(u))


@dataclass
class Place:
    """Where x may be, and what is added to f there.

    everywhere; box: low, high; simplex: total; l1 ball, ball: radius; ellipsoid: axes;
    sum: total (Σx = total); penalties l1, l2, linf: weight
    """

    kind: str
    data: tuple = ()

    def cost(self, x) -> arb:
        weight = arb(float(self.data[0])) if self.kind in ("l1", "l2", "linf") else arb(0)
        if self.kind == "l1":
            return weight * sum((abs(t) for t in x), arb(0))
        if self.kind == "l2":
            return weight * inner(x, x).sqrt() if any(t != 0 for t in x) else arb(0)
        if self.kind == "linf":
            top = abs(x[0])
            for t in x[1:]:
                top = top.max(abs(t))
            return weight * top
        return arb(0)

    def holds(self, x) -> bool:
        """For certain."""
        if self.kind == "box":
            low, high = exact(self.data[0]), exact(self.data[1])
            return all(a <= t <= b for a, t, b in zip(low, x, high, strict=True))
        if self.kind == "l1 ball":
            return sum((abs(t) for t in x), arb(0)) <= arb(float(self.data[0]))
        if self.kind == "ball":
            return inner(x, x) <= arb(float(self.data[0])) ** 2
        if self.kind == "ellipsoid":
            return sum((t * t / a / a for t, a in zip(x, exact(self.data[0]), strict=True)),
                       arb(0)) <= 1  # fmt: skip
        return True  # the others are made so by `faces`


def units(n: int):
    return [[arb(int(i == j)) for i in range(n)] for j in range(n)]


def faces(place: Place, n: int):
    """(columns, shift, tilt) of the affine pieces that a minimiser may lie on."""
    e, zero = units(n), [arb(0)] * n
    if place.kind in ("everywhere", "ball", "ellipsoid", "l1 ball", "l2"):
        yield e, zero, zero
    if place.kind == "box":
        low, high = exact(place.data[0]), exact(place.data[1])
        for pattern in itertools.product((-1, 0, 1), repeat=n):
            free = [i for i in range(n) if pattern[i] == 0]
            shift = [(low[i], arb(0), high[i])[pattern[i] + 1] for i in range(n)]
            yield [e[i] for i in free], shift, [arb(0)] * len(free)
    if place.kind in ("simplex", "sum"):
        total = arb(float(place.data[0]))
        sizes = range(1, n + 1) if place.kind == "simplex" else [n]
        for support in itertools.chain(*(itertools.combinations(range(n), k) for k in sizes)):
            last = support[-1]
            columns = [[e[i][j] - e[last][j] for j in range(n)] for i in support[:-1]]
            yield columns, [total * e[last][j] for j in range(n)], [arb(0)] * len(columns)
    if place.kind in ("l1", "l1 ball", "linf"):
        size = arb(float(place.data[0]))
        for pattern in itertools.product((-1, 0, 1), repeat=n):
            on = [i for i in range(n) if pattern[i]]
            if place.kind == "l1":
                yield [e[i] for i in on], zero, [size * pattern[i] for i in on]
            elif place.kind == "linf" and on:
                top = [arb(p) for p in pattern]
                off = [e[i] for i in range(n) if not pattern[i]]
                yield [top, *off], zero, [size, *([arb(0)] * len(off))]
            elif on:
                last, s = on[-1], pattern
                columns = [[e[i][j] - e[last][j] * s[i] * s[last] for j in range(n)]
                           for i in on[:-1]]  # fmt: skip
                yield (
                    columns,
                    [size * s[last] * e[last][j] for j in range(n)],
                    [arb(0)] * len(columns),
                )
        yield [], zero, []


def round_place(f: Function, place: Place, guess) -> list[list[arb]]:
    """On the surface of a ball or ellipsoid, or with the 2-norm: Newton on the equations."""
    n, x = len(guess), middle(guess)
    axes = exact(place.data[0]) if place.kind == "ellipsoid" else [arb(1)] * n
    radius = arb(1) if place.kind == "ellipsoid" else arb(float(place.data[0]))
    if not any(t != 0 for t in x):
        return []
    if place.kind != "l2" and radius == 0:
        return [[arb(0)] * n]
    weights = [1 / a / a for a in axes]
    if place.kind != "l2":  # start on the surface
        scale = radius / sum((w * t * t for w, t in zip(weights, x, strict=True)), arb(0)).sqrt()
        x = middle([t * scale for t in x])
    slope, _ = f.slope_and_curvature(x)
    along = sum((w * t * t for w, t in zip(weights, x, strict=True)), arb(0))
    nu = (-inner(slope, x) / along).mid()
    for _ in range(60):
        slope, curvature = f.slope_and_curvature(x)
        if place.kind == "l2":
            long = inner(x, x).sqrt()
            if not long > 0:
                return []
            g = [s + radius * t / long for s, t in zip(slope, x, strict=True)]
            H = [[curvature[i][j] + radius * (int(i == j) / long - x[i] * x[j] / long**3)
                  for j in range(n)] for i in range(n)]  # fmt: skip
        else:
            g = [s + nu * w * t for s, w, t in zip(slope, weights, x, strict=True)]
            g.append((sum((w * t * t for w, t in zip(weights, x, strict=True)), arb(0))
                      - radius**2) / 2)  # fmt: skip
            H = [[curvature[i][j] + nu * weights[i] * int(i == j) for j in range(n)]
                 + [weights[i] * x[i]] for i in range(n)]  # fmt: skip
            H.append([w * t for w, t in zip(weights, x, strict=True)] + [arb(0)])
        try:
            step = arb_mat(H).solve(arb_mat([[t] for t in g]), algorithm="approx")
        except ZeroDivisionError:
            break
        x = middle([x[i] - step[i, 0] for i in range(n)])
        if place.kind != "l2":
            nu = (nu - step[n, 0]).mid()
        if not all(t.is_finite() for t in x):
            return []
    if place.kind == "l2":
        return [x]
    size = sum((w * t * t for w, t in zip(weights, x, strict=True)), arb(0)).sqrt()
    if not size > 0:
        return []
    shrink = (radius / size).mid() * (1 - arb(2) ** -220)
    return [middle([t * shrink for t in x])]


def in_simplex(x, total: float) -> list[arb]:
    """The last positive entry takes what is missing, so that the sum is exact."""
    x = [t if t > 0 else arb(0) for t in middle(x)]
    k = max(range(len(x)), key=lambda i: float(x[i]))
    x[k] = (arb(float(total)) - sum((t for i, t in enumerate(x) if i != k), arb(0))).mid()
    return x


def best_point(f: Function, place: Place, n: int, guesses) -> tuple[arb, list[arb]]:
    """The least f + ψ that was found, as a ball, and the feasible point it is taken at."""
    turns = 3 if f.kind in ("quadratic", "squares") else 60
    found = []
    starts = [exact(guess) for guess in guesses]
    for columns, shift, tilt in faces(place, n):
        for start in starts if turns > 3 or f.kind == "planes" else starts[:1]:
            guess = _coordinates(columns, shift, start)
            if f.kind == "entropy" or place.kind == "simplex":
                guess = [arb(float(place.data[0])) / (len(columns) + 1)] * len(columns)
            found.append(newton(f, columns, shift, tilt, guess, turns))
    if place.kind in ("ball", "ellipsoid", "l2"):
        for start in starts:
            found += round_place(f, place, start)
        found.append([arb(0)] * n)
    if place.kind == "simplex":
        found += starts
        found = [in_simplex(x, place.data[0]) for x in found]
        found = [x for x in found if all(t >= 0 for t in x)]
    elif place.kind == "box":
        low, high = exact(place.data[0]), exact(place.data[1])
        found = [[min(max(t, a), b) for a, t, b in zip(low, x, high, strict=True)]
                 for x in map(middle, [*found, *starts])]  # fmt: skip
    elif place.kind not in ("sum",):
        found += starts
    best = None
    for x in found:
        if place.holds(x):
            value = f.value(x) + place.cost(x)
            if value.is_finite() and (best is None or value < best[0]):
                best = value, x
    assert best is not None, "the judge found no feasible point"
    return best


def _coordinates(columns, shift, x):
    """u with columns·u + shift near x, for columns that are unit vectors or differences."""
    guess = []
    for column in columns:
        i = next(i for i in range(len(x)) if column[i] != 0)
        guess.append(((x[i] - shift[i]) / column[i]).mid())
    return guess


def false_claims(f: Function, place: Place, run, least: arb) -> list[str]:
    """What the run claims and `least`, a value that f + ψ takes for certain, disproves."""
    wrong = []
    lower = float(np.max(run.lower))
    if np.isfinite(lower) and arb(lower) > least:
        wrong.append(f"lower {lower!r} is above {least.str(25)}")
    answer = middle(exact(run.answer))
    value = f.value(answer) + place.cost(answer)
    if np.isfinite(run.upper[-1]) and arb(float(run.upper[-1])) < value:
        wrong.append(f"upper {run.upper[-1]!r} is below {value.str(25)}")
    gap = float(run.gap[-1])
    if np.isfinite(gap) and value - least > arb(gap):
        wrong.append(f"gap {gap!r}, but the answer is {(value - least).str(10)} too high")
    relative = float(run.certificate.gap)
    if relative <= 1 and value - least > arb(relative) * abs(least):
        wrong.append(f"relative gap {relative!r}")
    return wrong
