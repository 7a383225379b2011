"""Writes `tori_tui/providers/models.json` anew from the price list that the package litellm carries.

    pip download --no-deps --dest /tmp/prices litellm
    python -m tests.providers.make_catalogue /tmp/prices/litellm-*.whl

The list holds facts only (windows, limits, prices, features), a line a model, sorted, so that an
update reads as a diff. Must not run in the product: the catalogue is data there.
"""

from __future__ import annotations

import json
import re
import sys
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tori_tui.providers import catalogue

MEMBER = "litellm/model_prices_and_context_window_backup.json"

SECTIONS = {
    "anthropic": ("anthropic",),
    "openai": ("openai",),
    "compatible": ("deepseek", "gemini", "mistral", "moonshot", "xai", "zai"),
}
"""Section of the catalogue: makers in the list. Compatible ones stand under their own names."""

NOT_FOR_CODING = re.compile(
    r"^ft:|audio|realtime|search|deep-research|computer-use|robotics|image|tts|transcribe|container|guard|"
    r"container|live|embedding|voxtral|rosalind|daybreak|cyber|-law$|gpt-3\.5|^gpt-4(-|$)"
)

EFFORTS = ("minimal", "low", "medium", "high", "max")


def catalogue_text(prices: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the file's text for a price list."""
    sections = []
    for section, makers in SECTIONS.items():
        models = dict(sorted(dict(_models(prices, makers)).items()))
        lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(entry)}" for name, entry in models.items())
        sections.append(f"{json.dumps(section)}: {{\n{lines}\n}}")
    return "{\n" + ",\n".join(sections) + "\n}\n"


def _models(
    prices: Mapping[str, Mapping[str, Any]], makers: tuple[str, ...]
) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, entry in prices.items():
        maker = entry.get("litellm_provider")
        is_chat = entry.get("mode") in ("chat", "responses") and entry.get("supports_function_calling")
        if maker not in makers or not is_chat or not entry.get("max_input_tokens"):
            continue
        bare = name.removeprefix(f"{maker}/")
        if not NOT_FOR_CODING.search(bare):
            yield bare, _entry(str(maker), entry)


def _entry(maker: str, entry: Mapping[str, Any]) -> dict[str, Any]:
    prices = {
        "input": "input_cost_per_token",
        "output": "output_cost_per_token",
        "cached": "cache_read_input_token_cost",
        "written": "cache_creation_input_token_cost",
    }
    kept: dict[str, Any] = {
        "window": int(entry["max_input_tokens"]),
        "limit": int(entry.get("max_output_tokens") or catalogue.DEFAULT_OUTPUT_LIMIT_TOKENS),
    }
    for ours, theirs in prices.items():
        if isinstance(entry.get(theirs), int | float):
            kept[ours] = round(entry[theirs] * 1_000_000, 6)
    if entry.get("supports_vision"):
        kept["vision"] = True
    if maker != "anthropic" or entry.get("supports_mid_conversation_system"):
        kept["late"] = True
    if efforts := _efforts(maker, entry):
        kept["efforts"] = efforts
    return kept


def _efforts(maker: str, entry: Mapping[str, Any]) -> list[str]:
    if maker == "anthropic":
        has_efforts = entry.get("supports_adaptive_thinking")
    else:
        has_efforts = maker == "openai" and entry.get("supports_reasoning")
    if not has_efforts:
        return []
    has_max = entry.get("supports_max_reasoning_effort") or entry.get("supports_xhigh_reasoning_effort")
    left_out = set() if maker == "openai" and entry.get("supports_minimal_reasoning_effort") else {"minimal"}
    return [effort for effort in EFFORTS if effort not in left_out and (effort != "max" or has_max)]


def main() -> None:
    """Read a wheel or a JSON file, write the catalogue."""
    source = Path(sys.argv[1])
    if source.suffix == ".whl":
        with zipfile.ZipFile(source) as wheel:
            prices = json.loads(wheel.read(MEMBER))
    else:
        prices = json.loads(source.read_text("utf-8"))
    catalogue.CATALOGUE_FILE.write_text(catalogue_text(prices), "utf-8")


if __name__ == "__main__":
    main()
