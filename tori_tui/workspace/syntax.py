"""Where a text of a known language defines something, through tree-sitter.

The grammars are loaded at the first text of their language. Must not fail where one is missing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from types import MappingProxyType
from typing import Any, Final

SIZE_LIMIT_BYTES: Final = 500_000
"""Parsed in about 0.2 s; larger files are generated ones."""


@dataclass(frozen=True, slots=True)
class Language:
    """A grammar, and what counts as a definition in it."""

    module: str
    loader: str
    holders: str
    """Kinds of nodes whose definitions are shown too, one level deeper."""
    leaves: str
    """Kinds of nodes that are shown without what is inside."""


_PYTHON: Final = Language(
    "tree_sitter_python", "language", "(class_definition) @holder", "(function_definition) @leaf"
)
_TYPESCRIPT_HOLDERS: Final = (
    "[(class_declaration) (abstract_class_declaration) (interface_declaration) (internal_module)] @holder"
)
_TYPESCRIPT_LEAVES: Final = (
    "[(function_declaration) (generator_function_declaration) (method_definition) (method_signature)"
    " (type_alias_declaration) (enum_declaration)"
    " (variable_declarator value: [(arrow_function) (function_expression)])] @leaf"
)
_TYPESCRIPT: Final = Language(
    "tree_sitter_typescript", "language_typescript", _TYPESCRIPT_HOLDERS, _TYPESCRIPT_LEAVES
)
_TSX: Final = Language("tree_sitter_typescript", "language_tsx", _TYPESCRIPT_HOLDERS, _TYPESCRIPT_LEAVES)
_GO: Final = Language(
    "tree_sitter_go",
    "language",
    "",
    "[(function_declaration) (method_declaration) (type_spec)] @leaf",
)
_RUST: Final = Language(
    "tree_sitter_rust",
    "language",
    "[(impl_item) (trait_item) (mod_item)] @holder",
    "[(function_item) (function_signature_item) (struct_item) (enum_item) (macro_definition)] @leaf",
)
_JAVA: Final = Language(
    "tree_sitter_java",
    "language",
    "[(class_declaration) (interface_declaration) (enum_declaration) (record_declaration)] @holder",
    "[(method_declaration) (constructor_declaration)] @leaf",
)
_CPP: Final = Language(
    "tree_sitter_cpp",
    "language",
    "[(class_specifier body: (_)) (struct_specifier body: (_)) (namespace_definition)] @holder",
    "[(function_definition) (enum_specifier body: (_))] @leaf",
)
_RUBY: Final = Language(
    "tree_sitter_ruby", "language", "[(class) (module)] @holder", "[(method) (singleton_method)] @leaf"
)

LANGUAGES: Final[Mapping[str, Language]] = MappingProxyType(
    {
        **dict.fromkeys((".py", ".pyi", ".pyw"), _PYTHON),
        **dict.fromkeys((".ts", ".mts", ".cts"), _TYPESCRIPT),
        **dict.fromkeys((".tsx", ".js", ".jsx", ".mjs", ".cjs"), _TSX),
        ".go": _GO,
        ".rs": _RUST,
        ".java": _JAVA,
        **dict.fromkeys((".c", ".h", ".cc", ".cpp", ".cxx", ".hh", ".hpp", ".hxx"), _CPP),
        ".rb": _RUBY,
    }
)
"""By a file's ending. JavaScript is read as TSX and C as C++, of which they are nearly parts."""


def definitions_in(suffix: str, text: str) -> list[tuple[int, int, int]] | None:
    """Return first line, last line and depth of each definition; None where the grammar is missing."""
    data = text.encode("utf-8", "replace")
    if len(data) > SIZE_LIMIT_BYTES:
        return None
    grammar = _grammar(LANGUAGES[suffix])
    return None if grammar is None else list(_nested(grammar.spans(data)))


@dataclass(frozen=True, slots=True)
class _Grammar:
    parser: Any
    query: Any
    cursor_of: Any

    def spans(self, data: bytes) -> list[tuple[int, int, bool]]:
        """Return the first and last line of every definition, and whether it holds others."""
        captures = self.cursor_of(self.query).captures(self.parser.parse(data).root_node)
        found = {
            (node.start_byte, -node.end_byte): (node.start_point[0] + 1, node.end_point[0] + 1, is_holder)
            for name, is_holder in (("leaf", False), ("holder", True))
            for node in captures.get(name, ())
        }
        return [found[place] for place in sorted(found)]


@cache
def _grammar(language: Language) -> _Grammar | None:
    try:
        tree_sitter = import_module("tree_sitter")
        pointer = getattr(import_module(language.module), language.loader)()
    except (ImportError, AttributeError):
        return None
    grammar = tree_sitter.Language(pointer)
    query = tree_sitter.Query(grammar, f"{language.holders}\n{language.leaves}")
    return _Grammar(tree_sitter.Parser(grammar), query, tree_sitter.QueryCursor)


def _nested(spans: list[tuple[int, int, bool]]) -> Iterator[tuple[int, int, int]]:
    """Yield definitions with their depth; what stands inside a function is left out."""
    around: list[tuple[int, bool]] = []
    for first, last, is_holder in spans:
        while around and around[-1][0] < first:
            around.pop()
        if all(holds for _, holds in around):
            yield first, last, len(around)
        around.append((last, is_holder))


__all__ = ["LANGUAGES", "SIZE_LIMIT_BYTES", "definitions_in"]
