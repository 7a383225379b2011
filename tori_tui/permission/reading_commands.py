"""Which shell commands only read: a short list, and for each the options that are known to be harmless.

Must not guess: what is not surely understood, word for word, is no reading command.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from tori_tui.permission.protected_paths import words

_WORD: Final = re.compile(
    r"""
    (?: [A-Za-z0-9_@%+:,./^?*\[\]=!-] | (?<=[A-Za-z0-9])~ )+  # plain …
    (?: (?<==) (?: '[^']*' | "[^"$`\\!]*" ) )?  # … or --name="value"
    | '[^']*'
    | "[^"$`\\!]*"
    """,
    re.VERBOSE,
)

_GLOB: Final = re.compile(r"[?*\[\]]")


@dataclass(frozen=True, slots=True)
class CommandClass:
    """What could be told of a command by looking at it."""

    is_reading: bool
    reason: str
    """Why it has to be asked; empty for a reading command."""
    words: tuple[str, ...] = ()
    """The words of a simple command, quotes taken off; empty where it is not a simple one."""
    paths: tuple[str, ...] = ()
    """Words of a simple command that may name files."""


@dataclass(frozen=True, slots=True)
class _Word:
    text: str
    has_glob: bool


@dataclass(frozen=True, slots=True)
class _Options:
    """What a program may be given. `short` are letters; a digit stands for every number."""

    short: str = ""
    long: frozenset[str] = frozenset()
    """Without their value; GNU programs take abbreviations, so only exact names count."""
    most_operands: int | None = None


def _options(short: str = "", long: str = "", most_operands: int | None = None) -> _Options:
    return _Options(short, frozenset(long.split()), most_operands)


ANY_OPTIONS: Final = frozenset(
    {"pwd", "ls", "cat", "wc", "head", "nl", "basename", "dirname", "echo", "true"}
)
"""Programs without an option that writes, runs something or waits for ever."""

SHOWS_NO_CONTENT: Final = words("ls wc stat du echo basename dirname")
"""A pattern of file names may stand with these; elsewhere it could name a file with secrets."""

KNOWN_OPTIONS: Final[Mapping[str, _Options]] = MappingProxyType(
    {
        "tail": _options("ncqvz0", "--lines --bytes --quiet --silent --verbose"),
        "realpath": _options("emszPL", "--canonicalize-existing --relative-to --relative-base"),
        "readlink": _options("femnqsvz"),
        "file": _options("bhikLNnprsv0", "--brief --mime --mime-type --mime-encoding"),
        "stat": _options("Lfct", "--format --printf --terse --dereference"),
        "du": _options(
            "achksmSxd0", "--human-readable --summarize --max-depth --all --total --apparent-size"
        ),
        "df": _options("ahiHklPT", "--human-readable"),
        "whoami": _options(),
        "id": _options("ugnGr"),
        "uname": _options("asnrvmpio"),
        "date": _options("uIR", "--utc --iso-8601 --rfc-3339"),
        "which": _options("a"),
        "type": _options("atpP"),
        "cmp": _options("lsbn0", "--silent --quiet --verbose"),
        "diff": _options(
            "uqNcbBwiayU0",
            "--unified --brief --new-file --side-by-side --ignore-all-space --ignore-space-change "
            "--ignore-blank-lines --ignore-case --color --stat --strip-trailing-cr",
        ),
        "sort": _options("nrufbdghiMVktsz0", "--reverse --numeric-sort --unique --key --field-separator"),
        "uniq": _options("cdiufsw0", "--count --repeated --unique --ignore-case", most_operands=1),
        "cut": _options(
            "bcdfsz0", "--delimiter --fields --characters --bytes --complement --output-delimiter"
        ),
        "comm": _options("123i"),
        "tree": _options("adfiLIPpsughDCnF0", "--noreport --dirsfirst --gitignore --charset"),
        "md5sum": _options("bct"),
        "sha1sum": _options("bct"),
        "sha256sum": _options("bct"),
        "grep": _options(
            "EFGPiIvwxcnlLHhoqsmABCeabTZ0",
            "--include --exclude --exclude-dir --color --colour --line-number --ignore-case --count "
            "--fixed-strings --extended-regexp --perl-regexp --word-regexp --invert-match --only-matching "
            "--files-with-matches --files-without-match --with-filename --no-filename --max-count --context "
            "--after-context --before-context --regexp --quiet --no-messages",
        ),
        "rg": _options(
            "iSsvwxcnNlFPUoqgtTmABCeHI0",
            "--ignore-case --smart-case --case-sensitive --invert-match --word-regexp --line-regexp --count "
            "--count-matches --line-number --no-line-number --files --files-with-matches "
            "--files-without-match --fixed-strings --pcre2 --multiline --only-matching --glob --iglob --type "
            "--type-not --type-list --max-count --after-context --before-context --context --regexp --color "
            "--colors --heading --no-heading --with-filename --no-filename --sort --sortr --stats "
            "--max-depth --max-columns --json --trim --vimgrep --column --no-config --quiet",
        ),
    }
)

FIND_TESTS: Final = words(
    "-name -iname -path -ipath -wholename -regex -iregex -type -maxdepth -mindepth -size -mtime -mmin -atime "
    "-ctime -newer -empty -prune -print -print0 -not -o -or -a -and -perm -user -group -links -samefile "
    "-readable -writable -executable -xdev -mount -depth -true -false -daystart -quit"
)
"""Everything else of find may run, delete or write."""

_GIT_LOG: Final = (
    "--oneline --stat --name-only --name-status --cached --staged --short --porcelain --branch --graph --all "
    "--decorate --no-color --color --numstat --shortstat --summary --follow --patch --no-patch --reverse "
    "--merges --no-merges --since --until --after --before --author --committer --grep --max-count --skip "
    "--format --pretty --abbrev-commit --no-abbrev-commit --date --word-diff --unified --diff-filter "
    "--ignore-all-space --ignore-space-change --ignore-blank-lines --first-parent --left-right --relative "
    "--no-ext-diff --no-textconv --find-renames --no-renames --topo-order --date-order --check --exit-code "
    "--quiet --minimal --histogram --patience --compact-summary --dirstat --tags --branches --remotes "
    "--simplify-by-decoration --pickaxe-regex --pickaxe-all --no-notes --merge-base"
)

GIT_COMMANDS: Final[Mapping[str, _Options]] = MappingProxyType(
    {
        "status": _options(
            "sbuvz", "--short --branch --porcelain --long --verbose --untracked-files --ignored"
        ),
        "log": _options("pnsSGLiUMCEFPmz0", _GIT_LOG),
        "show": _options("psnUMwz0", _GIT_LOG),
        "diff": _options("pswbUMSGRaz0", _GIT_LOG),
        "shortlog": _options("sne0", "--summary --numbered --email --since --until"),
        "blame": _options("LweslfMC0", "--date --since --porcelain --line-porcelain"),
        "ls-files": _options("cdmostz", "--cached --deleted --modified --others --stage --exclude-standard"),
        "ls-tree": _options("rdtlz", "--name-only --full-tree --long"),
        "rev-parse": _options(
            "",
            "--short --verify --abbrev-ref --show-toplevel --is-inside-work-tree --git-dir",
        ),
        "rev-list": _options("n0", "--count --max-count --all --left-right --first-parent --since --until"),
        "describe": _options("", "--tags --always --dirty --long --all --abbrev --match --exact-match"),
        "merge-base": _options("a", "--all --is-ancestor"),
        "show-ref": _options("sdq", "--heads --tags --hash --verify"),
        "cat-file": _options("tspe"),
        "branch": _options(
            "arv", "--all --remotes --list --show-current --verbose --no-color", most_operands=0
        ),
        "tag": _options("l", "--list", most_operands=0),
        "remote": _options("v", "--verbose", most_operands=0),
        "grep": _options("niwIlcEFPvhHeABC0", "--line-number --ignore-case --word-regexp --count --cached"),
    }
)

SOURCE_EXTENSIONS: Final = words(
    "py pyi js jsx ts tsx mjs cjs go rs c h cc cpp hpp cs java kt scala rb php swift lua pl sh toml yaml yml "
    "json md rst txt html css scss vue svelte sql xml proto ini cfg gradle ex exs erl hs ml clj dart"
)
"""No file with secrets is named so by custom, which `.env.local` and `id_rsa` show."""

VERSION_ASKED: Final = words("python python3 node gcc git bash")

_SED_PRINT: Final = re.compile(r"\d+(,(\d+|\$))?p")


def classify_command(command: str) -> CommandClass:
    """Say whether a command is a single, plain, reading one.

    Anything with an operator, a redirection, a substitution, an expansion, an unusual quote, a newline,
    an assignment or a wrapper is not. Where its words lead is not looked at: `paths` is for that.
    """
    split = _split(command.strip(" \t"))
    if split is None:
        return CommandClass(False, "it is more than one plain command")
    if not split:
        return CommandClass(False, "it is empty")
    texts = tuple(word.text for word in split)
    paths = tuple(part for text in texts[1:] for part in _path_parts(text))
    name, rest = texts[0], texts[1:]
    if any(word.has_glob for word in split[1:]) and name not in SHOWS_NO_CONTENT:
        return CommandClass(False, "its pattern may name any file", texts, paths)
    is_reading = _is_plain_name(command, name) and _reads_only(name, rest)
    reason = "" if is_reading else f"`{name[:40]}` used so is not on the list of reading commands"
    return CommandClass(is_reading, reason, texts, paths)


def _split(command: str) -> list[_Word] | None:
    """Return the words of a simple command, or None where a shell could see more in it than we do."""
    if not all(char.isprintable() or char == "\t" for char in command):
        return None
    found: list[_Word] = []
    position = 0
    while position < len(command):
        match = _WORD.match(command, position)
        if match is None:
            return None
        raw, position = match.group(), match.end()
        if position < len(command) and command[position] not in " \t":
            return None
        while position < len(command) and command[position] in " \t":
            position += 1
        plain, quoted = _parts(raw)
        has_glob = _GLOB.search(plain) is not None and not plain.startswith(("--include=", "--exclude"))
        found.append(_Word(plain + quoted, has_glob))
    return found


def _parts(raw: str) -> tuple[str, str]:
    """Split a word into what stands before a quote and what it holds."""
    for index, char in enumerate(raw):
        if char in "'\"":
            return raw[:index], raw[index + 1 : -1]
    return raw, ""


def _is_plain_name(command: str, name: str) -> bool:
    return command.lstrip(" \t").startswith(name) and name.replace("-", "").replace("_", "").isalnum()


def _path_parts(word: str) -> list[str]:
    """Return what of a word may be a path: itself, behind `=`, behind `:`, glued to a short option."""
    if not word.startswith("-"):
        return [word, *(part for part in re.split("[=:]", word)[1:] if part)]
    value = word.partition("=")[2]
    glued = [] if word.startswith("--") else [word[2:]]
    return [part for part in (value, *glued) if part]


def _reads_only(name: str, rest: Sequence[str]) -> bool:
    if rest in (("--version",), ("-V",)) and name in VERSION_ASKED:
        return True
    if name in ANY_OPTIONS:
        return True
    if (check := _SPECIAL.get(name)) is not None:
        return check(rest)
    options = KNOWN_OPTIONS.get(name)
    return options is not None and _allows(options, rest)


def _allows(options: _Options, rest: Sequence[str]) -> bool:
    operands = 0
    for index, word in enumerate(rest):
        if word == "--":
            operands += len(rest) - index - 1
            break
        if word.startswith("--"):
            if word.partition("=")[0] not in options.long:
                return False
        elif word.startswith("-") and len(word) > 1:
            if not _allows_short(options.short, word[1:]):
                return False
        else:
            operands += 1
    return options.most_operands is None or operands <= options.most_operands


def _allows_short(allowed: str, letters: str) -> bool:
    for index, letter in enumerate(letters):
        if letter.isdigit() and "0" in allowed:
            continue
        if letter not in allowed:
            # `-k2,2`, `-f1-3`, `-d,`, `-n+5`: a value without letters, glued to its option.
            return index > 0 and not any(char.isalpha() or char in "/." for char in letters[index:])
    return True


def _find(rest: Sequence[str]) -> bool:
    return all(word in FIND_TESTS or not word.startswith("-") or _is_number(word) for word in rest)


def _is_number(word: str) -> bool:
    return re.fullmatch(r"[+-]\d+[a-zA-Z]?", word) is not None


def _git(rest: Sequence[str]) -> bool:
    while rest and rest[0] in ("--no-pager", "-P"):
        rest = rest[1:]
    if not rest:
        return False
    if tuple(rest) in (("stash", "list"), ("reflog",), ("reflog", "show")):
        return True
    options = GIT_COMMANDS.get(rest[0])
    return options is not None and _allows(options, rest[1:])


def _sed(rest: Sequence[str]) -> bool:
    """Only `sed -n 10,20p FILE`: printing lines."""
    if len(rest) < 3 or rest[0] != "-n" or _SED_PRINT.fullmatch(rest[1]) is None:
        return False
    return not any(word.startswith("-") for word in rest[2:])


def _date(rest: Sequence[str]) -> bool:
    """Not `date 01021200`, which sets the clock."""
    return _allows(KNOWN_OPTIONS["date"], rest) and all(word.startswith(("+", "-")) for word in rest)


def _grep(rest: Sequence[str]) -> bool:
    """Recursive only over files that are named as sources: it would read hidden files with secrets."""
    plain = [_without_r(word) for word in rest]
    if not _allows(KNOWN_OPTIONS["grep"], plain):
        return False
    patterns = [word.partition("=")[2] for word in rest if word.startswith("--include=")]
    return plain == list(rest) or (bool(patterns) and all(map(_names_sources, patterns)))


def _without_r(word: str) -> str:
    if word == "--recursive":
        return "--quiet"
    return re.sub("^(-[a-zA-Z]*?)r", r"\1n", word) if not word.startswith("--") else word


def _rg(rest: Sequence[str]) -> bool:
    """With a pattern of file names it looks into hidden files too, so these must be named as sources."""
    if not _allows(KNOWN_OPTIONS["rg"], rest):
        return False
    for index, word in enumerate(rest):
        name, _, value = word.partition("=")
        is_short = word.startswith("-") and not word.startswith("--") and "g" in word
        if not is_short and name not in ("--glob", "--iglob"):
            continue
        value = value or (rest[index + 1] if index + 1 < len(rest) else "")
        if (is_short and not word.endswith("g")) or not (value.startswith("!") or _names_sources(value)):
            return False
    return True


def _names_sources(pattern: str) -> bool:
    name, dot, extension = pattern.rpartition("/")[2].rpartition(".")
    return bool(dot) and not name.startswith(".") and extension in SOURCE_EXTENSIONS


_SPECIAL: Final[Mapping[str, Callable[[Sequence[str]], bool]]] = MappingProxyType(
    {"find": _find, "git": _git, "sed": _sed, "date": _date, "grep": _grep, "rg": _rg}
)

__all__ = ["CommandClass", "classify_command"]
