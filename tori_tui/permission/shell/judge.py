"""Whether one simple command only reads, and what it opens.

Must not look at what stands around the command; `walk` does.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from tori_tui.permission.protected_paths import HARMLESS_DEVICES, words
from tori_tui.permission.shell.git_readers import GIT_COMMANDS, GIT_PHRASES
from tori_tui.permission.shell.options import Given, Options, sort_words
from tori_tui.permission.shell.readers import (
    ENVIRONMENT_SHOWN,
    FIND_TESTS,
    FIRST_IS_TEXT,
    OPENS_NOTHING,
    PHRASES,
    PROGRAMS,
    SHOWS_NO_CONTENT,
    TEXT_OPTIONS,
)
from tori_tui.permission.shell.scripts import awk_only_prints, jq_only_prints, sed_only_prints
from tori_tui.permission.shell.words import PIPE_PATH, UNKNOWN, Word
from tori_tui.permission.source_names import names_sources

UNARY_TESTS: Final = words("-f -d -e -s -r -w -x -L -h -n -z -b -c -p -S -t -O -G !")
BINARY_TESTS: Final = words("= == != -nt -ot -ef -eq -ne -lt -le -gt -ge")
"""`-v` is missing: its operand may be an index that runs a command."""

_NAME: Final = re.compile(r"[A-Za-z0-9_.:\[-]+")
_TAR_LIST: Final = re.compile(r"-?[tvzjJ]*t[tvzjJ]*f?[vzjJ]*")
_NUMBER: Final = re.compile(r"[+-]?\d+[a-zA-Z]?")


@dataclass(frozen=True, slots=True)
class Judgement:
    """What was found."""

    reason: str = ""
    """Why it has to be asked; empty for one that only reads."""
    paths: tuple[str, ...] = ()
    """What it may open."""
    folders: tuple[str, ...] = ()
    """Of those, folders of which it shows the content of every file."""


def judge(command: Sequence[Word]) -> Judgement:
    """Judge a command of at least one word, wrappers taken off."""
    name = command[0].text
    if not command[0].is_known or _NAME.fullmatch(name) is None:
        return Judgement(f"{_shown(name)} is not a program that is known to only read")
    rest = tuple(word.text for word in command[1:])
    if (name, *rest) in PHRASES and all(word.is_known for word in command):
        return Judgement()
    if name == "git":
        return _git(command[1:])
    check = _SPECIAL.get(name)
    known = PROGRAMS.get(name)
    if check is None and known is None:
        return Judgement(f"{name} is not a program that is known to only read")
    given = sort_words(known or Options(), rest)
    is_harmless = check(rest, given) if check is not None else not given.is_odd
    if not is_harmless:
        return Judgement(f"with these arguments {name} may do more than read")
    if why := _unknown(name, known, command[1:]):
        return Judgement(why)
    return _opened(name, given, rest)


def _shown(name: str) -> str:
    return "its first word" if UNKNOWN in name or not name else repr(name[:60])


def _unknown(name: str, known: Options | None, arguments: Sequence[Word]) -> str:
    """Say why words of which not everything is known may not stand with a program."""
    if name in _TAKES_UNKNOWN and (name not in ("test", "[") or all(word.is_one for word in arguments)):
        return ""
    takes_any = known is not None and (known.takes_any or name in ("grep", "egrep", "fgrep"))
    for index, word in enumerate(arguments):
        is_text = index == 0 and name in FIRST_IS_TEXT and UNKNOWN not in word.text and word.is_one
        if word.is_known or is_text or (name in OPENS_NOTHING - {"ps"} and UNKNOWN not in word.text):
            continue
        if why := _unknown_word(name, word, takes_any=takes_any):
            return why
    return ""


def _unknown_word(name: str, word: Word, *, takes_any: bool) -> str:
    if word.origin and (takes_any or not word.may_be_option):
        is_harmless = word.origin == "sources" or name in SHOWS_NO_CONTENT
        return "" if is_harmless else "it may open files with secrets"
    if UNKNOWN in word.text:
        return "it holds words that only the running shell knows"
    if name == "find":
        return "" if names_sources(word.text) else "a pattern may become an option"
    if word.text.startswith("-"):
        return "" if re.match(r"--[a-z-]+=", word.text) else "a pattern may become an option"
    if word.text[0] in "*?[" and not takes_any:
        return "a pattern may become an option"
    is_hidden = re.search(r"(?:^|/)\.[^/]*[*?\[]", word.text) is not None
    if name not in SHOWS_NO_CONTENT and (is_hidden or not names_sources(word.text)):
        return "a pattern of file names may fit files with secrets"
    return ""


def _opened(name: str, given: Given, rest: Sequence[str]) -> Judgement:
    if name in OPENS_NOTHING:
        return Judgement()
    operands = list(given.operands)
    values = [(option, value) for option, value in given.values if option not in TEXT_OPTIONS]
    has_text = any(option in ("-e", "--regexp", "--expression") for option, _ in given.values)
    if name in FIRST_IS_TEXT and operands and not has_text and "--files" not in given.options:
        del operands[0]
    if name == "find":
        operands = _find_starts(rest) + [
            rest[index + 1] for index, word in enumerate(rest[:-1]) if word in ("-newer", "-samefile")
        ]
    paths = [part for word in (*operands, *(value for _, value in values)) for part in path_parts(word)]
    if name not in ("find", "tar", "unzip"):
        paths += [
            part for word in rest if word.startswith("-") and "/" in word for part in _glued(word, given)
        ]
    goes_below = {"-r", "--recursive"} & set(given.options) and name in ("grep", "egrep", "fgrep", "diff")
    folders = tuple(operands or ["."]) if goes_below else ()
    return Judgement("", tuple(path for path in paths if not _is_open(path)), folders)


def _is_open(path: str) -> bool:
    return path in HARMLESS_DEVICES or path == PIPE_PATH or UNKNOWN in path


def _glued(word: str, given: Given) -> list[str]:
    """Return what is glued to an option, unless it is known for a text."""
    name = word.partition("=")[0] if word.startswith("--") else word[:2]
    return [] if name in TEXT_OPTIONS else path_parts(word)


def path_parts(word: str) -> list[str]:
    """Return what of a word may be a path: itself, behind `=`, behind `:`, glued to a short option."""
    if not word.startswith("-"):
        return [word, *(part for part in re.split("[=:]", word)[1:] if part)]
    value = word.partition("=")[2]
    glued = [] if word.startswith("--") else [word[2:]]
    return [part for part in (value, *glued) if part]


def _git(arguments: Sequence[Word]) -> Judgement:
    rest = [word.text for word in arguments]
    while rest and rest[0] in ("--no-pager", "-P"):
        rest = rest[1:]
    if any(not word.is_known and not (word.has_glob and names_sources(word.text)) for word in arguments):
        return Judgement("it holds words that only the running shell knows")
    if tuple(rest) in GIT_PHRASES or (
        len(rest) == 3 and rest[:2] == ["remote", "get-url"] and rest[2][0] != "-"
    ):
        return Judgement()
    known = GIT_COMMANDS.get(rest[0]) if rest else None
    if known is None or rest is None:
        return Judgement(f"git {rest[0] if rest else ''} may do more than read".replace("  ", " "))
    given = sort_words(known, rest[1:])
    if given.is_odd and not _is_listing(rest):
        return Judgement(f"with these arguments git {rest[0]} may do more than read")
    if rest[0] == "grep":
        paths = [part for word in given.operands[1:] for part in path_parts(word)]
    else:
        paths = [part for word in rest[1:] if not _is_text_option(word) for part in path_parts(word)]
    return Judgement("", tuple(paths))


def _is_text_option(word: str) -> bool:
    names = ("--format", "--pretty", "--grep", "--author", "--since", "--until", "--date", "--committer")
    return word.startswith((*(f"{name}=" for name in names), "-S", "-G"))


def _is_listing(rest: Sequence[str]) -> bool:
    """Say whether `branch` and `tag` get their operand for a pattern and not for a new name."""
    lists = {"--list", "-l", "--contains", "--no-contains", "--merged", "--no-merged", "--points-at"}
    known = GIT_COMMANDS[rest[0]]
    options = [word for word in rest[1:] if word.startswith("-")]
    is_known = not sort_words(Options(known.short, known.long), options).is_odd
    return rest[0] in ("branch", "tag") and is_known and len(rest) <= 4 and rest[1] in lists


def _find(rest: Sequence[str], given: Given) -> bool:
    return all(
        word in FIND_TESTS or not word.startswith("-") or _NUMBER.fullmatch(word) is not None for word in rest
    )


def _find_starts(rest: Sequence[str]) -> list[str]:
    starts = []
    for word in rest:
        if word.startswith(("-", "(", "!")):
            break
        starts.append(word)
    return starts


def _sed(rest: Sequence[str], given: Given) -> bool:
    scripts = [value for option, value in given.values if option in ("-e", "--expression")]
    scripts = scripts or given.operands[:1]
    return not given.is_odd and bool(scripts) and all(map(sed_only_prints, scripts))


def _awk(rest: Sequence[str], given: Given) -> bool:
    if not rest or rest[-1].startswith("-"):
        return False
    return not given.is_odd and bool(given.operands) and awk_only_prints(given.operands[0])


def _jq(rest: Sequence[str], given: Given) -> bool:
    return not given.is_odd and bool(given.operands) and jq_only_prints(given.operands[0])


def _date(rest: Sequence[str], given: Given) -> bool:
    """Not `date 01021200`, which sets the clock."""
    return not given.is_odd and all(word.startswith("+") for word in given.operands)


def _rg(rest: Sequence[str], given: Given) -> bool:
    """With a pattern of file names it looks into hidden files too, so these must be named as sources."""
    patterns = [value for option, value in given.values if option in ("-g", "--glob", "--iglob")]
    return not given.is_odd and all(value.startswith("!") or names_sources(value) for value in patterns)


def _printf(rest: Sequence[str], given: Given) -> bool:
    """Not `printf -v NAME`: the name may be an index that runs a command."""
    return (
        bool(rest)
        and not rest[0].startswith("-")
        and UNKNOWN not in rest[0]
        and "n" not in _conversions(rest[0])
    )


def _conversions(format_text: str) -> set[str]:
    """Return the letters that end the placeholders of a format; `%n` sets a variable."""
    return set(re.findall(r"%[^a-zA-Z%]*([a-zA-Z])", format_text.replace("%%", "")))


def _test(rest: Sequence[str], given: Given) -> bool:
    """Only looks at files and texts, with an operator that is written down."""
    inner = rest[:-1] if rest and rest[-1] == "]" else rest
    if len(inner) == 2:
        return inner[0] in UNARY_TESTS
    return len(inner) == 1 or (len(inner) == 3 and inner[1] in BINARY_TESTS)


def _tar(rest: Sequence[str], given: Given) -> bool:
    """Only `tar tf FILE`: listing."""
    if not rest or _TAR_LIST.fullmatch(rest[0]) is None:
        return False
    # A name with a colon is one on another machine, and is fetched by a program.
    return not any(word.startswith("-") or ":" in word for word in rest[1:])


def _unzip(rest: Sequence[str], given: Given) -> bool:
    return len(rest) == 2 and rest[0] in ("-l", "-v", "-Z", "-lv") and not rest[1].startswith("-")


def _ps(rest: Sequence[str], given: Given) -> bool:
    """Not with the letter `e` of BSD, which prints every environment."""
    return not given.is_odd and all(set(word) <= set("auxfwlj0123456789,") for word in given.operands)


def _printenv(rest: Sequence[str], given: Given) -> bool:
    return bool(rest) and set(rest) <= ENVIRONMENT_SHOWN


def _command(rest: Sequence[str], given: Given) -> bool:
    """`command -v NAME`; the other forms are opened before."""
    return len(rest) >= 2 and rest[0] in ("-v", "-V") and not any(word.startswith("-") for word in rest[1:])


def _read(rest: Sequence[str], given: Given) -> bool:
    """`read -r LINE`: names only."""
    return all(re.fullmatch(r"-r|[a-z_][a-z0-9_]*", word) is not None for word in rest)


def _never(rest: Sequence[str], given: Given) -> bool:
    return False


_Check = Callable[[Sequence[str], Given], bool]

_SPECIAL: Final[Mapping[str, _Check]] = MappingProxyType(
    {
        "find": _find, "sed": _sed, "awk": _awk, "gawk": _awk, "mawk": _awk, "jq": _jq, "date": _date,
        "rg": _rg, "printf": _printf, "test": _test, "[": _test, "tar": _tar, "unzip": _unzip, "ps": _ps,
        "printenv": _printenv, "command": _command, "read": _read, "set": _never, "shopt": _never,
    }
)  # fmt: skip

_TAKES_UNKNOWN: Final = frozenset(
    {"echo", "printf", "true", "false", ":", "basename", "dirname", "exit", "return", "test", "[", "seq"}
)
"""Whatever an expansion gives them, they only print it or look at it."""

__all__ = ["BINARY_TESTS", "UNARY_TESTS", "Judgement", "judge", "path_parts"]
