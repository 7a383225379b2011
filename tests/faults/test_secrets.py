from __future__ import annotations

import json
from pathlib import Path

from tests.e2e.commands import tori
from tests.wire.answers import WireCall, WireRefusal, WireReply, in_order
from tests.wire.server import WireServer
from tori_tui.domain.messages import JsonObject

KEY = "sk-planted-4f7d1c9e8b2a6035d1e4f7a8"
MODEL = "openai-chat/wire-model"


def holders(folder: Path) -> list[str]:
    """Return the files below a folder, compressed objects aside, that hold the key."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return [str(path) for path in files if KEY.encode() in path.read_bytes()]


async def test_planted_key_appears_nowhere(tmp_path: Path) -> None:
    place = tmp_path / "project"
    place.mkdir()
    (place / "notes.txt").write_text(f"the key is {KEY}\n")
    (place / "AGENTS.md").write_text(f"Be brief.\nThe key of the server is {KEY}.\n")
    agents = tmp_path / "config" / "tori" / "agents"
    agents.mkdir(parents=True)
    (agents / "careful.md").write_text(f"Use {KEY} with care.\n")
    half = len(KEY) // 2
    arguments: tuple[tuple[str, JsonObject], ...] = (
        ("bash", {"command": "env > child.txt; env; echo $OPENAI_API_KEY; tr a a < child.txt"}),
        ("bash", {"command": f"printf {KEY[:half]}; echo {KEY[half:]}; exit 3"}),
        ("read_file", {"path": "notes.txt"}),
        ("grep_files", {"pattern": "sk-planted"}),
        ("goal", {"add": f"@careful Use {KEY}", "focus": "1"}),
        ("memory_add", {"text": f"The key is {KEY}."}),
        ("session_memory_set", {"key": "key", "value": KEY}),
    )
    script = in_order(
        *(WireReply(f"Now {name}.", (WireCall(name, given),)) for name, given in arguments),
        WireReply(f"Done; the key is {KEY}."),
        WireReply("Stopped here."),
        *(WireReply("Stopped.") for _ in range(3)),
        WireRefusal(401, {"error": {"message": f"Incorrect API key provided: {KEY}."}}),
    )
    state = tmp_path / "state"
    environ = {
        "OPENAI_API_KEY": KEY,
        "XDG_STATE_HOME": str(state),
        "TORI_MODEL": MODEL,
        "XDG_CONFIG_HOME": str(agents.parents[1]),
    }
    said: list[str] = []
    async with WireServer(script) as server:

        async def run(*words: str) -> int:
            code, out, err = await tori(*words, cwd=place, url=server.openai_url, **environ)
            said.extend((out, err))
            return code

        await run("run", f"use the key {KEY}", "--mode", "auto")
        n_before = len(server.requests)
        await run("run", "again", "--mode", "auto", "--json")
        assert n_before >= len(arguments)
        refused = WireServer(lambda _: WireRefusal(401, {"error": {"message": f"Incorrect key: {KEY}"}}))
        async with refused:
            code, out, err = await tori(
                "run", "x", "--mode", "auto", cwd=place, url=refused.openai_url, **environ
            )
            assert code == 5
            said.extend((out, err))
        for words in (
            ("show", "--unfold"),
            ("show", "--json"),
            ("list",),
            ("context",),
            ("doctor",),
            ("export", "--html"),
            ("export", "--md"),
            ("memory", "list"),
        ):
            await run(*words)
        results = [result for request in server.requests for result in request.results]
        sent = [json.dumps(request.body) for request in server.requests]
    assert any("[redacted" in result for result in results)
    assert KEY not in "\n".join(results)
    assert KEY not in "\n".join(sent)
    assert "The key of the server is [redacted" in sent[0]
    assert any("AGENTS.md holds a key" in text for text in said)
    assert not (place / "child.txt").read_text().count(KEY)
    assert KEY not in "\n".join(said)
    assert holders(place / ".trace") == []
    assert holders(state) == []
