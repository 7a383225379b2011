"""What every backend does alike."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.memory.facts import NOW, fact
from tori_tui.domain.ids import FactId, TraceId
from tori_tui.domain.memory import NewFact
from tori_tui.memory.base import MemoryStore, session_namespace
from tori_tui.memory.in_memory import InMemoryStore

ODD_TEXTS = (
    "",
    " ",
    "a\nb",
    "quote \" and ' and *",
    "nul \0 inside",
    "字🦊\u0301",
    "-- DROP TABLE facts;",
    "x" * 9_999,
)


async def add(store: MemoryStore, *texts: str) -> list[FactId]:
    return [(await store.add(fact(text))).fact.id for text in texts]


async def found(store: MemoryStore, words: str, limit: int = 10) -> list[str]:
    return [each.text for each in await store.search(words, limit)]


async def test_a_fact_comes_back_whole_with_its_source(store: MemoryStore) -> None:
    added = await store.add(fact("The user model is in models/user.py"))
    assert added.is_new
    assert added.fact.trace_id == "t1"
    assert added.fact.goal_id == "2'.1"
    assert added.fact.created_at == NOW
    assert await store.get(added.fact.id) == added.fact
    assert await store.search("model", 5) == (added.fact,)


async def test_a_fact_of_the_user_needs_no_session(store: MemoryStore) -> None:
    added = await store.add(NewFact("tabs, not spaces", NOW, "user"))
    assert await store.get(added.fact.id) == added.fact
    assert (added.fact.author, added.fact.trace_id, added.fact.goal_id) == ("user", None, None)


async def test_ids_are_numbers_that_never_come_back(store: MemoryStore) -> None:
    first, second = await add(store, "one", "two")
    assert int(second) > int(first)
    assert await store.forget(second)
    (third,) = await add(store, "three")
    assert int(third) > int(second)


async def test_the_same_text_is_the_same_fact(store: MemoryStore) -> None:
    (first,) = await add(store, "bcrypt is used")
    again = await store.add(NewFact("bcrypt is used", NOW, "user"))
    assert (again.is_new, again.fact.id, again.fact.author) == (False, first, "agent")
    assert await store.count() == 1


async def test_what_was_forgotten_is_gone_and_can_be_learned_again(store: MemoryStore) -> None:
    first, other = await add(store, "the port is 8080", "the host is local")
    assert await store.forget(first)
    assert not await store.forget(first)
    assert await store.get(first) is None
    assert await found(store, "port") == []
    assert await found(store, "the") == ["the host is local"]
    (again,) = await add(store, "the port is 8080")
    assert again not in (first, other)
    assert await found(store, "port") == ["the port is 8080"]


@pytest.mark.parametrize("odd", ["", "0", "-1", "x", "007", "1 ", "１", "9" * 40])
async def test_an_odd_id_names_nothing(store: MemoryStore, odd: str) -> None:
    await add(store, "one")
    assert await store.get(FactId(odd)) is None
    assert not await store.forget(FactId(odd))


async def test_every_word_must_be_there_and_the_newest_comes_first(store: MemoryStore) -> None:
    await add(store, "Login uses bcrypt", "bcrypt has cost 12", "argon2 was refused")
    assert await found(store, "bcrypt") == ["bcrypt has cost 12", "Login uses bcrypt"]
    assert await found(store, "LOGIN bcrypt") == ["Login uses bcrypt"]
    assert await found(store, "login argon2") == []
    assert await found(store, "bcrypt", limit=1) == ["bcrypt has cost 12"]


async def test_without_words_the_newest_are_listed(store: MemoryStore) -> None:
    await add(store, "one", "two", "three")
    assert await found(store, "") == ["three", "two", "one"]
    assert await found(store, "  ", limit=2) == ["three", "two"]
    assert await found(store, "!?") == []


@pytest.mark.parametrize(
    ("text", "words", "is_found"),
    [
        ("passwords are hashed", "password hash", True),
        ("passwords are hashed", "assword", False),
        ("an id", "i", False),
        ("the identity", "id", False),
        ("run src/app_main.py first", "app", True),
        ("run src/app_main.py first", "app_main.py", True),
        ("run src/app_main.py first", "main app", True),
        ("getUserName returns None", "user", True),
        ("getUserName returns None", "getusername", True),
        ("parse HTTPServer", "server", True),
        ("用户模型在 models/user.py 里", "用户", True),
        ("用户模型在 models/user.py 里", "模型 user", True),
        ("用户模型在 models/user.py 里", "户", True),
        ("用户模型在 models/user.py 里", "用户模型", True),
        ("用户模型在 models/user.py 里", "用模", False),
        ("用bcrypt加密", "bcrypt", True),
        ("用bcrypt加密", "加密", True),
        ("テストはpytestで走る", "テスト", True),
        ("테스트는 pytest 로", "테스트", True),
        ("naïve Straße", "STRASSE naïve", True),
        ("ｆｕｌｌ width", "full", True),
        ("пароль хранится", "ПАРОЛ", True),
        ("version 3.11 of Python", "3.11", True),
        ('say "hello" OR NOT', 'or not "hello"', True),
        ("a* b^ NEAR(c)", "near(c)", True),
        ("🦊 fox", "🦊", False),
        ("w" * 300, "w" * 200, True),
    ],
)
async def test_words_are_found_in_every_script(
    store: MemoryStore, text: str, words: str, is_found: bool
) -> None:
    await add(store, text, "something else entirely 其他")
    assert await found(store, words) == ([text] if is_found else [])


@pytest.mark.parametrize("text", ODD_TEXTS)
async def test_any_text_comes_back_as_it_was(store: MemoryStore, text: str) -> None:
    (fact_id,) = await add(store, text)
    kept = await store.get(fact_id)
    assert kept is not None
    assert kept.text == text
    await store.set_value("n", text, text)
    assert await store.values("n") == ((text, text),)
    assert await store.forget(fact_id)


TEXTS = st.lists(st.text("ab_ 字典x1", max_size=8), max_size=6)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(TEXTS, st.text("ab_ 字典x1", max_size=4))
async def test_every_backend_finds_what_the_simplest_finds(
    store: MemoryStore, texts: list[str], words: str
) -> None:
    simplest = InMemoryStore()
    for known in await store.search("", 100):
        await store.forget(known.id)
    await add(store, *texts)
    await add(simplest, *texts)
    assert await found(store, words) == await found(simplest, words)


async def test_values_keep_the_order_in_which_their_keys_came(store: MemoryStore) -> None:
    space = session_namespace(TraceId("t1"))
    for key, value in (("b", "1"), ("a", "2"), ("c", "3"), ("b", "4")):
        await store.set_value(space, key, value)
    assert await store.values(space) == (("b", "4"), ("a", "2"), ("c", "3"))
    assert await store.value(space, "b") == "4"
    assert await store.delete_value(space, "b")
    assert not await store.delete_value(space, "b")
    await store.set_value(space, "b", "5")
    assert await store.values(space) == (("a", "2"), ("c", "3"), ("b", "5"))
    assert await store.value(space, "missing") is None


async def test_sessions_do_not_see_each_other(store: MemoryStore) -> None:
    one, other = session_namespace(TraceId("t1")), session_namespace(TraceId("t2"))
    assert one == "_session_t1"
    await store.set_value(one, "memo", "mine")
    assert await store.values(other) == ()
    assert await store.value(other, "memo") is None
    await store.replace_values(other, ())
    assert await store.values(one) == (("memo", "mine"),)


async def test_a_namespace_can_be_replaced_whole(store: MemoryStore) -> None:
    await store.set_value("n", "old", "1")
    await store.replace_values("n", (("z", "1"), ("a", "2")))
    await store.set_value("n", "m", "3")
    assert await store.values("n") == (("z", "1"), ("a", "2"), ("m", "3"))
    await store.replace_values("n", ())
    assert await store.values("n") == ()


async def test_many_at_once_lose_nothing(store: MemoryStore) -> None:
    await asyncio.gather(*(store.add(fact(f"fact number {n}")) for n in range(60)))
    await asyncio.gather(*(store.set_value("n", f"k{n}", "v") for n in range(60)))
    assert await store.count() == 60
    assert len({each.id for each in await store.search("fact", 100)}) == 60
    assert len(await store.values("n")) == 60


async def test_a_closed_store_opens_again(store: MemoryStore) -> None:
    await add(store, "kept")
    await store.close()
    await store.close()
    assert await found(store, "kept") == ["kept"]
