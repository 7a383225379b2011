"""What decodes the lines of one kind of event, made from the event's own fields.

By structs of the same fields: dataclasses themselves take msgspec four times as long, as it finds each field
that a line leaves out by an error. Must not touch a file, nor know what an event means.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from datetime import datetime
from functools import cache
from types import GenericAlias, MappingProxyType
from typing import Annotated, Any, Final, cast, get_args, get_type_hints

import msgspec
from msgspec.structs import astuple

from tori_tui.domain.events import DURABLE_EVENTS, DurableEvent, MessageAdded, Record
from tori_tui.domain.ids import Seq
from tori_tui.domain.messages import Message
from tori_tui.domain.plan_edits import PLAN_EDITS, PlanEdit

LineDecoder = Callable[[bytes], tuple[int, Record]]
"""Returns the version of the format that a line names, and its record."""

_Conversion = Callable[[Any], object]


class Head(msgspec.Struct, gc=False):
    """What every line begins with."""

    v: int
    seq: Annotated[Seq, msgspec.Meta(ge=1)]
    ts: Annotated[datetime, msgspec.Meta(tz=True)]
    kind: str


class _Tag(msgspec.Struct, gc=False):
    op: str


class _Twin:
    """A struct with the fields of a dataclass, and how a value of that class is made from it."""

    def __init__(self, cls: type, bases: tuple[type[msgspec.Struct], ...] = ()) -> None:
        hints = get_type_hints(cls)
        fields: list[tuple[str, Any, Any]] = []
        self._cls = cls
        self._nested: list[tuple[int, _Conversion]] = []
        for at, field in enumerate(dataclasses.fields(cls)):
            held, conversion = _held(hints[field.name])
            fields.append((field.name, held, _default(field)))
            if conversion is not None:
                self._nested.append((at, conversion))
        self.struct = msgspec.defstruct(cls.__name__, fields, bases=bases or None, kw_only=True, gc=False)

    def made(self, values: Iterable[object]) -> object:
        """Return the value that has these fields."""
        if self._nested:
            filled = list(values)
            for at, conversion in self._nested:
                if filled[at]:
                    filled[at] = conversion(filled[at])
            values = filled
        return self._cls(*values)

    def one(self, found: object) -> object:
        """Return a value; a field that the line leaves out holds its default, which is one already."""
        return self.made(astuple(found)) if isinstance(found, msgspec.Struct) else found

    def many(self, found: tuple[msgspec.Struct, ...]) -> tuple[object, ...]:
        return tuple([self.made(astuple(item)) for item in found])

    def text_or_many(self, found: str | tuple[msgspec.Struct, ...]) -> object:
        return found if isinstance(found, str) else self.many(found)


@cache
def _twin_of(cls: type) -> _Twin:
    return _Twin(cls)


def _default(field: dataclasses.Field[object]) -> object:
    if field.default is not dataclasses.MISSING:
        return field.default
    if field.default_factory is not dataclasses.MISSING:
        return msgspec.field(default_factory=field.default_factory)
    return msgspec.NODEFAULT


def _held(hint: object) -> tuple[object, _Conversion | None]:
    """Return the type that a struct has for a field, and what makes the value of it where that is another."""
    if hint == tuple[PlanEdit, ...]:
        # msgspec takes no union of dataclasses: each is told by its tag.
        return tuple[msgspec.Raw, ...], _edits
    cls = _dataclass_in(hint)
    if cls is None:
        return hint, None
    twin = _twin_of(cls)
    many, twins = GenericAlias(tuple, (cls, ...)), GenericAlias(tuple, (twin.struct, ...))
    forms: dict[object, tuple[object, _Conversion]] = {
        cls: (twin.struct, twin.one),
        cls | None: (twin.struct | None, twin.one),
        many: (twins, twin.many),
        str | many: (str | twins, twin.text_or_many),
    }
    return forms.get(hint, (hint, None))


def _dataclass_in(hint: object) -> type | None:
    parts = [hint]
    for part in parts:
        if isinstance(part, type) and dataclasses.is_dataclass(part):
            return part
        parts += get_args(part)
    return None


_EDITS: Final = MappingProxyType({cls.op: cls for cls in PLAN_EDITS})
_read_tag: Final = msgspec.json.Decoder(_Tag).decode


@cache
def _edit_decoder(op: str) -> Callable[[msgspec.Raw], PlanEdit]:
    twin = _twin_of(cast("type", _EDITS[op]))
    decode = msgspec.json.Decoder(twin.struct).decode
    return lambda raw: cast("PlanEdit", twin.one(decode(raw)))


def _edits(raws: tuple[msgspec.Raw, ...]) -> tuple[PlanEdit, ...]:
    """Decode plan edits by their tag; unknown ones are left out as unknown kinds are."""
    tagged = ((_read_tag(raw).op, raw) for raw in raws)
    return tuple(_edit_decoder(op)(raw) for op, raw in tagged if op in _EDITS)


_KINDS: Final = MappingProxyType({cls.kind: cls for cls in DURABLE_EVENTS})


def _made_decoder(cls: type[DurableEvent]) -> LineDecoder:
    is_message = cls is MessageAdded
    twin = _Twin(Message if is_message else cls, (Head,))
    decode = msgspec.json.Decoder(twin.struct).decode

    def decode_line(line: bytes) -> tuple[int, Record]:
        version, seq, at, _, *values = astuple(decode(line))
        made = twin.made(values)
        event = MessageAdded(cast("Message", made)) if is_message else cast("DurableEvent", made)
        return version, Record(seq, at, event)

    return decode_line


class _Decoders(dict[bytes, "LineDecoder | None"]):
    """What decodes each kind of line, made when the first of it comes: a millisecond for each."""

    def __missing__(self, kind: bytes) -> LineDecoder | None:
        cls = _KINDS.get(kind.decode("utf-8", "replace"))
        if cls is None:
            return None  # and not kept: a file may hold any number of them
        decoder = self[kind] = _made_decoder(cls)
        return decoder


DECODERS: Final = _Decoders()
"""By kind; None for one that is not known. Each raises what msgspec raises where a line has not its form."""

__all__ = ["DECODERS", "Head", "LineDecoder"]
