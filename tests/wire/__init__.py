"""Model servers on a loopback socket, and the providers' own rules for requests."""

from __future__ import annotations
