"""Takes out of a command's output what test runners and compilers say about what went well."""

from __future__ import annotations
