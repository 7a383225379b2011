"""Programs that only read, and for each the options that are known to be harmless.

Must not guess: a program or an option that is not written down here is not a reading one.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from tori_tui.permission.protected_paths import words
from tori_tui.permission.shell.options import Options, options

OPENS_NOTHING: Final = words(
    "echo printf true false : pwd basename dirname seq sleep whoami date uname hostname id nproc uptime "
    "which type test [ exit return break continue shift cal tty logname arch wait tr ps pgrep printenv "
    "set shopt"
)
"""Whatever they are told, they open no file that it names, or only say whether it is there."""

SHOWS_NO_CONTENT: Final = words(
    "ls wc stat du tree find file realpath readlink md5sum sha1sum sha256sum cksum"
)
"""They show names, sizes and sums, so a pattern or a list of names may stand with these."""

FIRST_IS_TEXT: Final = words("grep egrep fgrep rg sed awk gawk mawk jq fd fdfind tr")
"""The first operand is a pattern or a script, not a file, unless an option gives it."""

TEXT_OPTIONS: Final = words(
    "-e --regexp --expression -v --assign -F -d -t -k --format --delimiter --output-delimiter "
    "--field-separator --key -g --glob --iglob --include --exclude --exclude-dir -S -G --grep --author "
    "--since --until"
)
"""Options whose value is no file."""

_GREP_LONG: Final = (
    "--color --colour --line-number --ignore-case --count --fixed-strings --extended-regexp --perl-regexp "
    "--basic-regexp --word-regexp --line-regexp --invert-match --only-matching --files-with-matches "
    "--files-without-match --with-filename --no-filename --quiet --silent --no-messages --null --text "
    "--byte-offset --no-ignore-case --recursive"
)

GREP: Final = options(
    "EFGPiIvwxcnlLHhoqsabTZyrzU0",
    _GREP_LONG,
    values="mABCe",
    long_values="--max-count --context --after-context --before-context --regexp --include --exclude "
    "--exclude-dir --label",
)

_AWK: Final = options(values="Fv", long_values="--assign --field-separator")

_SUMS: Final = options("bctz", "--check --quiet --status --ignore-missing --strict --tag --binary --text")

PROGRAMS: Final[Mapping[str, Options]] = MappingProxyType(
    {
        **dict.fromkeys(
            words("pwd ls cat tac wc nl basename dirname true false : rev seq"), options(takes_any=True)
        ),
        **dict.fromkeys(
            words("sleep nproc hostname tty logname arch exit return break continue shift"), options("0")
        ),
        "hostname": options("fsId", most_operands=0),
        "echo": options(takes_any=True),
        "printf": options(),
        "head": options(takes_any=True, values="nc", long_values="--lines --bytes"),
        "tail": options("qvz0", "--quiet --silent --verbose", values="nc", long_values="--lines --bytes"),
        "realpath": options("emszPL", "--canonicalize-existing --relative-to --relative-base"),
        "readlink": options("femnqsvz"),
        "file": options("bhikLNnprsv0", "--brief --mime --mime-type --mime-encoding"),
        "stat": options("Lft", "--dereference --terse", values="c", long_values="--format --printf"),
        "du": options(
            "achksmSx0",
            "--human-readable --summarize --all --total --apparent-size",
            values="d",
            long_values="--max-depth --exclude",
            takes_any=True,
        ),
        "df": options("ahiHklPT", "--human-readable"),
        "whoami": options(most_operands=0),
        "id": options("ugnGr"),
        "uname": options("asnrvmpio", most_operands=0),
        "uptime": options("ps", most_operands=0),
        "free": options("bkmght", "--human", most_operands=0),
        "lscpu": options("", most_operands=0),
        "which": options("a"),
        "type": options("atpP"),
        "whereis": options("bm"),
        "cmp": options("lsbn0", "--silent --quiet --verbose"),
        "diff": options(
            "uqNcbBwiayrs0",
            "--unified --brief --new-file --side-by-side --ignore-all-space --ignore-space-change "
            "--ignore-blank-lines --ignore-case --color --stat --strip-trailing-cr --recursive "
            "--report-identical-files --minimal",
            values="U",
            long_values="--exclude --label --width",
        ),
        "sort": options(
            "nrufbdghiMVsz0",
            "--reverse --numeric-sort --unique --human-numeric-sort --version-sort --ignore-case --stable",
            values="kt",
            long_values="--key --field-separator",
        ),
        "uniq": options(
            "cdiuz0",
            "--count --repeated --unique --ignore-case",
            1,
            values="fsw",
            long_values="--skip-fields --skip-chars",
        ),
        "cut": options(
            "snz0",
            "--complement --only-delimited",
            values="bcdf",
            long_values="--delimiter --fields --characters --bytes --output-delimiter",
        ),
        "tr": options("cCdst", "--delete --squeeze-repeats --complement"),
        "paste": options("sz", "--serial", values="d", long_values="--delimiters"),
        "column": options("tnxe", "--table", values="sco", long_values="--separator"),
        "comm": options("123iz"),
        "join": options("i", values="12tjoave"),
        "fold": options("bs0", values="w"),
        "expand": options("i0", values="t"),
        "fmt": options("su0", values="w"),
        "od": options("bcdosxvAtN0", values="AtNj"),
        "hexdump": options("bcCdovx", values="ns"),
        "xxd": options("bcuipEgls0", "", 1, values="clsg"),
        "strings": options("afe0", values="n"),
        "base64": options("di", "--decode --ignore-garbage", values="w", long_values="--wrap"),
        **dict.fromkeys(words("md5sum sha1sum sha256sum sha512sum b2sum cksum sum"), _SUMS),
        "tree": options(
            "adfipsughDCnFtrv0",
            "--noreport --dirsfirst --gitignore --du",
            values="LIP",
            long_values="--charset",
        ),
        **dict.fromkeys(("grep", "egrep", "fgrep"), GREP),
        "rg": options(
            "iSsvwxcnNlFPUoqHIp0",
            "--ignore-case --smart-case --case-sensitive --invert-match --word-regexp --line-regexp --count "
            "--count-matches --line-number --no-line-number --files --files-with-matches --pretty "
            "--files-without-match --fixed-strings --pcre2 --multiline --only-matching --type-list --heading "
            "--no-heading --with-filename --no-filename --stats --json --trim --vimgrep --column --no-config "
            "--quiet",
            values="gtTmABCer",
            long_values="--glob --iglob --type --type-not --max-count --after-context --before-context "
            "--context --regexp --color --colors --sort --sortr --max-depth --max-columns --replace",
        ),
        "fd": options(
            "siFpagl0",
            "--type --extension --exclude --glob --ignore-case --case-sensitive --absolute-path",
            values="tedE",
            long_values="--max-depth --min-depth --max-results",
        ),
        "jq": options(
            "rcsSMCnejar",
            "--raw-output --compact-output --slurp --sort-keys --null-input --exit-status --tab "
            "--join-output --monochrome-output --color-output --raw-input",
            long_values="--indent",
        ),
        "sed": options(
            "nErsuz", "--quiet --silent --regexp-extended --posix", values="e", long_values="--expression"
        ),
        **dict.fromkeys(("awk", "gawk", "mawk"), _AWK),
        "date": options("uIR", "--utc --iso-8601 --rfc-3339", values="dr", long_values="--date --reference"),
        "cal": options("3my0"),
        "ps": options("efFlAaT", values="opuCtg"),
        "pgrep": options("flaxcno", values="uP"),
        "nm": options("CDgnu"),
        "size": options("ABd"),
        "diffstat": options("p0"),
        "zcat": options(),
        "zipinfo": options("1lv"),
        "printenv": options(),
        "cloc": options("q", "--quiet --by-file", values="", long_values="--exclude-dir"),
        "tokei": options(),
        "wait": options(),
    }
)
"""A program stands here only if nothing that it may be given makes it write, run another or wait for ever."""

FIND_TESTS: Final = words(
    "-name -iname -path -ipath -wholename -regex -iregex -type -maxdepth -mindepth -size -mtime -mmin "
    "-atime -ctime -newer -empty -prune -print -print0 -not -o -or -a -and -perm -user -group -links "
    "-samefile -readable -writable -executable -xdev -mount -depth -true -false -daystart -quit -printf "
    "-ls -inum -regextype"
)
"""Everything else of find may run, delete or write. The values of these are no paths, `-newer` aside."""

_PHRASES: Final = """
npm ls
npm list
npm ls --depth=0
npm list --depth=0
npm root
npm prefix
npm --version
npm -v
node --version
node -v
python --version
python -V
python3 --version
python3 -V
pip --version
pip3 --version
pip list
pip3 list
pip freeze
pip3 freeze
pip list --outdated --format=json
uv --version
go version
java -version
java --version
javac -version
gcc --version
g++ --version
clang --version
make --version
cmake --version
ruby --version
ruby -v
php --version
php -v
perl --version
perl -v
bash --version
git --version
docker --version
rg --version
jq --version
tmux -V
set -e
set -u
set -x
set -eu
set -ex
set -eux
set -o pipefail
set -eo pipefail
set -euo pipefail
set -euxo pipefail
set +e
set +x
shopt -s globstar
shopt -s nullglob
sw_vers
lsb_release -a
locale
umask
ulimit -a
jobs
times
"""

PHRASES: Final = frozenset(tuple(line.split()) for line in _PHRASES.strip().splitlines())
"""Whole commands that are known word for word. Programs of which a file in the tree can name another version
to run (cargo, yarn, pytest …) are not among them, not even for their version."""

ENVIRONMENT_SHOWN: Final = words("PATH HOME USER SHELL LANG PWD TERM VIRTUAL_ENV EDITOR LC_ALL TZ PYTHONPATH")
"""What printenv may print."""

__all__ = [
    "ENVIRONMENT_SHOWN",
    "FIND_TESTS",
    "FIRST_IS_TEXT",
    "OPENS_NOTHING",
    "PHRASES",
    "PROGRAMS",
    "SHOWS_NO_CONTENT",
    "TEXT_OPTIONS",
]
