"""The bundled project with a failing test, and the recorded replies that mend it."""

from __future__ import annotations
