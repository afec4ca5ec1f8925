"""A made-up series of tables: the customers of a shop, month by month."""

from __future__ import annotations

from typing import Any

import numpy as np

# Kinds of customers as mean income, visits, basket, discount share and complaints.
_CUSTOMER_GROUPS = (
    (32.0, 2.0, 24.0, 30.0, 0.4),
    (48.0, 6.0, 38.0, 18.0, 0.8),
    (75.0, 4.0, 85.0, 6.0, 1.5),
)
_CUSTOMER_SPREADS = (4.0, 0.7, 6.0, 3.0, 0.3)
_CUSTOMER_COLUMNS = ("income", "visits", "basket", "discount_share", "complaints")
MONTHS = ("jan", "feb", "mar")


def customers_by_month(rows: int, seed: int) -> dict[str, dict[str, Any]]:
    """Customers of a shop in three months: most stay as they are, some change, come and go.

    One in twenty goes over to another kind between two months, one in fifteen leaves, and as many
    new ones come.
    """
    rng = np.random.default_rng(seed)
    means, spreads = np.array(_CUSTOMER_GROUPS), np.array(_CUSTOMER_SPREADS)
    ids, kind = np.arange(1, rows + 1), rng.integers(len(means), size=rows)
    habits = rng.standard_normal((rows, len(spreads)))  # what a customer keeps
    months: dict[str, dict[str, Any]] = {}
    for month in MONTHS:
        if months:
            kind = np.where(rng.random(rows) < 1 / 20, (kind + 1) % len(means), kind)
            new = rng.random(rows) < 1 / 15
            ids = np.where(new, ids.max() + np.cumsum(new), ids)
            habits[new] = rng.standard_normal((int(new.sum()), len(spreads)))
            kind[new] = rng.integers(len(means), size=int(new.sum()))
        noise = 0.25 * rng.standard_normal(habits.shape)
        values = np.round(means[kind] + spreads * (habits + noise), 1)
        months[month] = {
            "customer": np.array([f"C{one:04d}" for one in ids], dtype=object),
            **dict(zip(_CUSTOMER_COLUMNS, values.T, strict=True)),
            "kind": np.array(["thrifty", "regular", "premium"], dtype=object)[kind],
        }
    return months
