from __future__ import annotations

import base64
import struct
import zlib
from pathlib import Path

import pytest

from tests.fakes.provider import ScriptedProvider
from tests.fakes.session import driven, reply
from tori_tui.domain.messages import ContentPart
from tori_tui.workspace.images import IMAGE_LIMIT_BYTES, image_part


def png() -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", head)
        + chunk(b"IDAT", zlib.compress(b"\0\0"))
        + chunk(b"IEND", b"")
    )


async def test_an_image_that_is_read_reaches_the_model_and_survives_the_trace(tmp_path: Path) -> None:
    root = tmp_path / "tree"
    root.mkdir()
    (root / "dot.png").write_bytes(png())
    provider = ScriptedProvider([reply("", read_file={"path": "dot.png"}), reply("a dot")])
    async with driven(provider, root) as driver:
        state = await driver.run("what is it?")
    content = provider.requests[1].messages[-1].content
    assert isinstance(content, tuple)
    assert content[1] == ContentPart("image", media_type="image/png", data=base64.b64encode(png()).decode())
    assert "an image" in content[0].text
    assert not state.log[2].message.is_error


@pytest.mark.parametrize(
    "data",
    [
        b"\x89PNG\r\n\x1a\n" + b"junk" * 40,
        png()[:-6],
        b"\xff\xd8\xff\xe0 cut",
        b"<html>not a jpeg</html>",
        b"GIF89a",
        b"",
        b"\x89PNG\r\n\x1a\n" + b"\0" * IMAGE_LIMIT_BYTES,
    ],
)
def test_what_is_no_whole_image_is_never_sent_as_one(data: bytes) -> None:
    assert image_part(data) is None
