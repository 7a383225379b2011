from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tori_tui.workspace.outline import Definition, outline_of
from tori_tui.workspace.syntax import LANGUAGES

TEXTS = {
    "a.py": (
        "import os\n\n\nclass A(Base):\n    @property\n    def b(self) -> int:\n        def inner(): ...\n"
        "        return 1\n\n\nasync def c():\n    pass\n",
        ["4-8 class A(Base):", "  6-8 def b(self) -> int:", "11-12 async def c():"],
    ),
    "a.tsx": (
        "export const App = () => {\n  const inner = () => 1;\n  return <div/>;\n};\n"
        "export default class X extends Y {\n  private foo(): void {\n  }\n}\n",
        ["1-4 export const App = () =>", "5-8 export default class X extends Y", "  6-7 private foo(): void"],
    ),
    "a.ts": (
        "export interface P {\n  a: string;\n  b(): void;\n}\ntype T = string;\nenum E { A }\n",
        ["1-4 export interface P", "  3-3 b(): void;", "5-5 type T = string;", "6-6 enum E { A }"],
    ),
    "a.js": ("function f(a) {\n  return a\n}\nmodule.exports = { f }\n", ["1-3 function f(a)"]),
    "a.go": (
        "package m\n\ntype S struct {\n\ta int\n}\n\nfunc (s *S) Run() error {\n\treturn nil\n}\n",
        ["3-5 type S struct", "7-9 func (s *S) Run() error"],
    ),
    "a.rs": (
        "pub struct A {\n  x: i32,\n}\n\nimpl A {\n  #[inline]\n  fn new() -> A {\n    A { x: 1 }\n  }\n}\n",
        ["1-3 pub struct A", "5-10 impl A", "  7-9 fn new() -> A"],
    ),
    "A.java": (
        'public class A {\n  @Override\n  public String toString() {\n    return "";\n  }\n}\n',
        ["1-6 public class A", "  2-5 public String toString()"],
    ),
    "a.cpp": (
        "namespace n {\nclass B {\n public:\n  int c() { return 1; }\n};\n}\nstruct Forward;\n",
        ["1-6 namespace n", "  2-5 class B", "    4-4 int c() { return 1; }"],
    ),
    "a.c": ("static int f(int a)\n{\n  return a;\n}\n", ["1-4 static int f(int a)"]),
    "a.rb": (
        "module M\n  class A\n    def x\n      1\n    end\n  end\nend\n",
        ["1-7 module M", "  2-6 class A", "    3-5 def x"],
    ),
    "a.sh": ("set -e\nfoo() {\n  echo\n}\nif x; then\n  y\nelse\n  z\nfi\n", ["2-3 foo()", "5-6 if x; then"]),
    "a.yaml": ("on:\n  push:\n    tags: 1\njobs:\n  test: 1\n", ["1-3 on:", "  2-3 push:", "4-5 jobs:"]),
    "a.md": ("# A\ntext\n## B\n```\n# no\n```\n# C\n", ["1-2 # A", "  3-6 ## B", "7-7 # C"]),
    "a.txt": ("a\n  b\nc\n  d\n", []),
}


@pytest.mark.parametrize("name", TEXTS)
def test_a_file_tells_what_it_defines(name: str) -> None:
    text, expected = TEXTS[name]
    assert [shown(part) for part in outline_of(name, text)] == expected


def shown(part: Definition) -> str:
    return f"{'  ' * part.depth}{part.first_line}-{part.last_line} {part.label}"


@given(
    st.sampled_from([*LANGUAGES, ".sh", ".md", ".xyz"]),
    st.text()
    | st.lists(st.sampled_from(["def f():", "class A {", "}", "\n", "  ", "\r\n", "é", "("])).map("".join),
)
def test_no_text_stops_the_outline_and_every_line_is_there(suffix: str, text: str) -> None:
    n_lines = len(text.split("\n"))
    for part in outline_of(f"a{suffix}", text):
        assert 1 <= part.first_line <= part.last_line <= n_lines


def test_broken_code_still_tells_what_is_whole() -> None:
    text = "def a(:\n\n\ndef b():\n    return 1\n"
    assert "4-5 def b():" in [shown(part) for part in outline_of("a.py", text)]
