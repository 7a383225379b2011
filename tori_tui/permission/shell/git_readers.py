"""Subcommands of git that only read, and for each the options that are known to be harmless.

Must not guess: what is not written down here is not a reading one.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from tori_tui.permission.shell.options import Options, options

_GIT_LOG: Final = (
    "--oneline --stat --name-only --name-status --cached --staged --short --porcelain --branch --graph "
    "--all --decorate --no-color --color --numstat --shortstat --summary --follow --patch --no-patch "
    "--reverse --merges --no-merges --since --until --after --before --author --committer --grep "
    "--max-count --skip --format --pretty --abbrev-commit --no-abbrev-commit --date --word-diff --unified "
    "--diff-filter --ignore-all-space --ignore-space-change --ignore-blank-lines --first-parent "
    "--left-right --relative --no-ext-diff --no-textconv --find-renames --no-renames --topo-order "
    "--date-order --check --exit-code --quiet --minimal --histogram --patience --compact-summary "
    "--dirstat --tags --branches --remotes --simplify-by-decoration --pickaxe-regex --pickaxe-all "
    "--no-notes --merge-base --no-pager --full-index --abbrev --no-prefix --function-context --raw "
    "--no-decorate --cherry-pick --word-diff-regex --color-words"
)

GIT_COMMANDS: Final[Mapping[str, Options]] = MappingProxyType(
    {
        "status": options(
            "sbuvz0",
            "--short --branch --porcelain --long --verbose --untracked-files --ignored --show-stash "
            "--no-renames --ahead-behind",
        ),
        "log": options("pnsSGLiUMCEFPmzcwb0", _GIT_LOG),
        "show": options("psnUMwzb0", _GIT_LOG),
        "diff": options("pswbUMSGRazWu0", _GIT_LOG),
        "shortlog": options("sne0", "--summary --numbered --email --since --until --all --no-merges"),
        "blame": options("LweslfMC0", "--date --since --porcelain --line-porcelain"),
        "ls-files": options(
            "cdmostz",
            "--cached --deleted --modified --others --stage --exclude-standard --ignored --full-name",
        ),
        "ls-tree": options("rdtlz", "--name-only --full-tree --long --full-name"),
        "rev-parse": options(
            "",
            "--short --verify --abbrev-ref --show-toplevel --is-inside-work-tree --git-dir --show-prefix "
            "--symbolic-full-name --quiet --is-bare-repository --git-common-dir --absolute-git-dir",
        ),
        "rev-list": options(
            "n0", "--count --max-count --all --left-right --first-parent --since --until --no-merges"
        ),
        "describe": options(
            "", "--tags --always --dirty --long --all --abbrev --match --exact-match --contains"
        ),
        "merge-base": options("a", "--all --is-ancestor --fork-point --octopus"),
        "show-ref": options("sdq", "--heads --tags --hash --verify"),
        "for-each-ref": options("", "--format --sort --count --contains --merged --no-merged --points-at"),
        "name-rev": options("", "--name-only --tags"),
        "cat-file": options("tspe"),
        "check-ignore": options("vqn", "--verbose --quiet"),
        "check-attr": options("a", "--all"),
        "count-objects": options("vH", "--verbose --human-readable"),
        "diff-tree": options("prcszMC0", _GIT_LOG + " --no-commit-id --root"),
        "diff-index": options("pcsz", _GIT_LOG),
        "var": options(),
        "branch": options(
            "arv",
            "--all --remotes --list --show-current --verbose --no-color --contains --no-contains --merged "
            "--no-merged --sort --format --points-at",
            0,
        ),
        "tag": options("ln0", "--list --sort --format --contains --merged --points-at", 0),
        "remote": options("v", "--verbose", 0),
        "grep": options(
            "niwIlcEFPvhHeABCop0",
            "--line-number --ignore-case --word-regexp --count --cached --name-only --show-function "
            "--heading --break --files-with-matches --extended-regexp --fixed-strings --perl-regexp",
        ),
        "whatchanged": options("psn0", _GIT_LOG),
        "range-diff": options("", "--no-color --stat"),
        "cherry": options("v"),
    }
)

_GIT_PHRASES: Final = """
stash list
stash show
stash show -p
reflog
reflog show
worktree list
submodule status
remote show
branch --list
tag --list
version
--version
bisect log
notes list
config --get user.name
config --get user.email
config user.name
config user.email
symbolic-ref HEAD
symbolic-ref --short HEAD
"""

GIT_PHRASES: Final = frozenset(tuple(line.split()) for line in _GIT_PHRASES.strip().splitlines())
"""Whole commands that read, of commands that also write."""

__all__ = ["GIT_COMMANDS", "GIT_PHRASES"]
