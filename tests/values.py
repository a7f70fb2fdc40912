"""Values of parameters, as tests write them."""

from __future__ import annotations

from typing import Any


def by_key(**values: Any) -> dict[str, Any]:
    """Return values by key, for names with two underscores for a dot.

    >>> by_key(queue__base=2, width="max")
    {'queue.base': 2, 'width': 'max'}
    """
    return {name.replace("__", "."): value for name, value in values.items()}
