"""What tokens cost, by the configuration or by the list that litellm carries, read without importing it."""

import importlib.util
import json
from functools import cache
from pathlib import Path
from typing import Any

from skillpipe.models import Price

PRICE_LIST = "model_prices_and_context_window_backup.json"


def list_price(model: str) -> Price | None:
    """The list price of `model` (provider/name), None when it is not on the list. For estimates and caps.

    What a call did cost is computed by litellm, which knows cached and reasoning tokens.
    """
    names = (model, model.partition("/")[2])
    entry: dict[str, Any] = next((_prices()[name] for name in names if name in _prices()), {})
    read, written = entry.get("input_cost_per_token"), entry.get("output_cost_per_token")
    if read is None or written is None:
        return None
    return Price(float(read) * 1e6, float(written) * 1e6)


@cache
def _prices() -> dict[str, dict[str, Any]]:
    """The list, read from the installed package's file: importing the package takes seconds."""
    spec = importlib.util.find_spec("litellm")
    folders = (spec.submodule_search_locations or []) if spec else []
    for folder in folders:
        path = Path(folder) / PRICE_LIST
        if path.is_file():
            prices: dict[str, dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
            return prices
    return {}
