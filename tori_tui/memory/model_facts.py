"""What tori learned of models by using them, kept for every later session on this machine.

Must not hold anything that a user wrote or that matters if it is lost.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final

FILE_NAME: Final = "model_facts.json"

FactValue = bool | float


class ModelFacts:
    """A small JSON file: model name → fact → value. Unreadable or unwritable, it is simply empty.

    Args:
        directory: `$XDG_STATE_HOME/tori`; made when the first fact is written.
    """

    def __init__(self, directory: Path) -> None:
        self._path = directory / FILE_NAME
        self._facts: dict[str, dict[str, FactValue]] | None = None

    def get(self, model: str, fact: str) -> FactValue | None:
        """Return what is known, or None."""
        return self._read().get(model, {}).get(fact)

    def set(self, model: str, fact: str, value: FactValue) -> None:
        """Remember a fact; other sessions' facts in the file are kept."""
        self._facts = None
        facts = self._read()
        facts.setdefault(model, {})[fact] = value
        try:
            self._write(facts)
        except OSError:
            # Known for this session; the next one learns it again.
            return

    def _read(self) -> dict[str, dict[str, FactValue]]:
        if self._facts is None:
            try:
                self._facts = _checked(json.loads(self._path.read_bytes()))
            except (OSError, ValueError):
                self._facts = {}
        return self._facts

    def _write(self, facts: Mapping[str, Mapping[str, FactValue]]) -> None:
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(dir=self._path.parent, prefix=".facts-")
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(facts, file, sort_keys=True)
        os.replace(temporary, self._path)


def _checked(raw: object) -> dict[str, dict[str, FactValue]]:
    if not isinstance(raw, dict):
        return {}
    return {
        str(model): {str(k): v for k, v in facts.items() if isinstance(v, (bool, int, float))}
        for model, facts in raw.items()
        if isinstance(facts, dict)
    }


class LateRefusals:
    """The models that take no system message after the history."""

    FACT: Final = "late_system_refused"

    def __init__(self, facts: ModelFacts) -> None:
        self._facts = facts

    def has(self, model: str) -> bool:
        """Whether the model refused one before."""
        return self._facts.get(model, self.FACT) is True

    def add(self, model: str) -> None:
        """Remember that the model refused one."""
        self._facts.set(model, self.FACT, True)


class TextCallers:
    """The models that keep writing their calls as text, so that they are asked for strict JSON."""

    FACT: Final = "writes_calls_as_text"

    def __init__(self, facts: ModelFacts) -> None:
        self._facts = facts

    def has(self, model: str) -> bool:
        """Whether the model did so before."""
        return self._facts.get(model, self.FACT) is True

    def add(self, model: str) -> None:
        """Remember that the model does so."""
        self._facts.set(model, self.FACT, True)


class LearnedSizes:
    """How a model's provider counts tokens, and how many it really takes."""

    CORRECTION: Final = "token_correction"
    WINDOW: Final = "window_tokens"
    LEAST_CHANGE: Final = 0.02
    """A smaller change of the correction is not worth a write."""

    def __init__(self, facts: ModelFacts) -> None:
        self._facts = facts

    def correction(self, model: str) -> float | None:
        """Return by what estimates were multiplied last, or None."""
        return self._number(model, self.CORRECTION)

    def learn_correction(self, model: str, correction: float) -> None:
        """Remember a correction that has changed."""
        known = self.correction(model)
        if known is None or abs(correction - known) >= self.LEAST_CHANGE:
            self._facts.set(model, self.CORRECTION, round(correction, 4))

    def window_tokens(self, model: str) -> int | None:
        """Return the size up to which the model has taken requests after it refused a larger one."""
        known = self._number(model, self.WINDOW)
        return None if known is None else int(known)

    def learn_window(self, model: str, window_tokens: int) -> None:
        """Remember that the model took no more than this."""
        self._facts.set(model, self.WINDOW, window_tokens)

    def _number(self, model: str, fact: str) -> float | None:
        value = self._facts.get(model, fact)
        return None if value is None or isinstance(value, bool) or value <= 0 else float(value)


__all__ = ["FILE_NAME", "LateRefusals", "ModelFacts", "TextCallers"]
