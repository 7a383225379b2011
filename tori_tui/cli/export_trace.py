"""A trace, its branches' traces included, as a page: read, written, put where it was asked for.

Must not change the trace.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, Literal, assert_never

from tori_tui.cli import streams
from tori_tui.cli.new_file import write_new_file
from tori_tui.cli.traces import trace_root
from tori_tui.config.translate import secret_values
from tori_tui.domain.errors import UsageError
from tori_tui.domain.ids import BranchId
from tori_tui.permission.redaction import Redactor
from tori_tui.render.page.account import account_of, own_part
from tori_tui.render.page.entries import Account
from tori_tui.trace.catalog import find_trace
from tori_tui.trace.errors import TraceError
from tori_tui.trace.lines import told_faults
from tori_tui.trace.store import BRANCHES_NAME, JsonlTraceStore

Form = Literal["html", "md", "svg"]

FORMS: Final[Mapping[str, Form]] = {
    "html": "html",
    "htm": "html",
    "md": "md",
    "markdown": "md",
    "svg": "svg",
}
"""The form that a name or a file's ending stands for."""


def wanted_form(flags: Mapping[Form, bool], output: Path | None) -> Form:
    """Return the form that the options ask for.

    Raises:
        UsageError: They ask for none, or for more than one.
    """
    asked = [form for form, is_asked in flags.items() if is_asked]
    if len(asked) == 1:
        return asked[0]
    if asked:
        raise UsageError(f"{' and '.join(f'--{form}' for form in asked)} exclude each other.", "Ask for one.")
    ending = output.suffix.lower().removeprefix(".") if output is not None else ""
    if ending in FORMS:
        return FORMS[ending]
    raise UsageError("In which form?", "Say --html, --md or --svg, or give a FILE with such an ending.")


def export_trace(
    trace: str, form: Form, cwd: Path | None, trace_dir: Path | None, output: Path | None, *, is_forced: bool
) -> None:
    """Write a trace named by id, prefix or path to a file or to standard output.

    Raises:
        TraceError: It is not there, or has a newer format.
        UsageError: The file is there already, or cannot be.
        OutputFailed: It could not be written whole.
    """
    directory = find_trace(trace_root(cwd, trace_dir), trace)
    page = page_of(directory, form, streams.write_err)
    if output is None or str(output) == "-":
        streams.write_out_bytes(page)
        return
    write_new_file(output, page, is_forced=is_forced)
    streams.write_err(f"{output}: {len(page):,} bytes\n")


def export_session(directory: Path, form: Form, path: str, cwd: Path) -> str:
    """Write a session that goes on; return where it is, in words.

    Args:
        directory: Its trace.
        form: Of the page.
        path: Where to, from `cwd` on; empty is beside the trace, in place of an earlier page of that session.
        cwd: Where the session works.

    Raises:
        TraceError: It cannot be read.
        UsageError: The file is there already, or cannot be.
        OutputFailed: It could not be written whole.
    """
    target = cwd / os.path.expanduser(path) if path else directory.parent / f"{directory.name}.{form}"
    write_new_file(target, page_of(directory, form, lambda _: None), is_forced=not path)
    return f"The session as a page: {target}"


def page_of(directory: Path, form: Form, tell: Callable[[str], None]) -> bytes:
    """Return a trace as a page.

    Raises:
        TraceError: It cannot be read.
    """
    account = read_account(directory, tell)
    match form:
        case "html":
            from tori_tui.render.page.html_page import html_page

            text = html_page(account)
        case "md":
            from tori_tui.render.page.markdown_page import markdown_page

            text = markdown_page(account)
        case "svg":
            from tori_tui.render.page.svg_picture import svg_picture

            text = svg_picture(account)
        case _:
            assert_never(form)
    return redacted(text).encode("utf-8", "replace")


def redacted(text: str) -> str:
    """Return a page without the keys of this environment and what looks like one, whoever wrote it."""
    return Redactor(secret_values(os.environ)).redact(text)


def read_account(directory: Path, tell: Callable[[str], None]) -> Account:
    """Return what a trace and those of its branches tell.

    Args:
        directory: Of the trace.
        tell: Takes lines that name what could not be read.
    """
    with JsonlTraceStore.open(directory, read_only=True) as store:
        records = tuple(store.records())
        for line in told_faults(store.faults):
            tell(f"{store.directory}: {line}\n")
    account = account_of(directory.resolve().name, records)
    told: dict[BranchId, Account] = {}
    for branch in account.state.branches.values():
        folder = directory / BRANCHES_NAME / branch.trace
        if not branch.trace or not folder.is_dir():
            continue
        try:
            told[branch.id] = own_part(read_account(folder, tell))
        except TraceError as error:
            tell(f"{error}\n")
    return account_of(directory.resolve().name, records, told) if told else account


__all__ = ["FORMS", "Form", "export_session", "export_trace", "page_of", "read_account", "wanted_form"]
