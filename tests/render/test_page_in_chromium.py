from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.render.chromium import Page, chromium
from tests.render.sessions import everything, long_session
from tori_tui.render.page.html_page import html_page

pytestmark = pytest.mark.needs("chromium", "bash")

GROUND = "getComputedStyle(document.documentElement).backgroundColor"
LIGHT, DARK = "rgb(251, 250, 247)", "rgb(20, 23, 28)"

SEARCH = """
new Promise(done => {
  const q = document.getElementById("q");
  q.value = %r;
  q.dispatchEvent(new Event("input"));
  setTimeout(() => done(document.getElementById("hits").textContent), 250);
})
"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with chromium(tmp_path_factory.mktemp("profile")) as page:
        yield page


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("page") / "session.html"
    path.write_text(html_page(everything()))
    return path.as_uri()


def click(page: Page, selector: str) -> None:
    page.run(f"document.querySelector({selector!r}).click()")


def test_folds_open_by_a_click_and_all_at_once(browser: Page, address: str) -> None:
    browser.open(address)
    output = "[...document.querySelectorAll('pre')].find(e => e.textContent.includes('needle'))"
    seen = f"{output}.checkVisibility()"
    assert browser.run(seen) is False
    browser.run(f"{output}.closest('details').querySelector('summary').click()")
    assert browser.run(seen) is True
    click(browser, "#fold")
    assert browser.run("document.querySelectorAll('main details:not([open])').length") == 0
    click(browser, "#fold")
    assert browser.run("document.querySelectorAll('main details[open]').length") == 0


def test_search_counts_opens_and_shows_what_it_found(browser: Page, address: str) -> None:
    browser.open(address)
    assert browser.run(SEARCH % "NEEDLE in") == "1/1"
    found = "CSS.highlights.get('here').values().next().value.startContainer.parentElement"
    assert browser.run(f"{found}.checkVisibility()") is True
    # Coloured program text is many pieces; a word in it is found all the same.
    assert browser.run(SEARCH % "def look():") == "1/1"
    assert browser.run(SEARCH % "登录") == "1/2"
    click(browser, "#next")
    assert browser.run("document.getElementById('hits').textContent") == "2/2"
    assert browser.run(SEARCH % ".*[(") == "none"


@pytest.mark.parametrize("script", [True, False])
def test_the_theme_follows_the_system_until_it_is_switched(browser: Page, address: str, script: bool) -> None:
    for is_dark, own, other in ((False, LIGHT, DARK), (True, DARK, LIGHT)):
        browser.open(address, dark=is_dark, script=script)
        # A script of ours still runs where the page's own may not.
        browser.run("try { localStorage.clear() } catch (e) {}")
        browser.open(address, dark=is_dark, script=script)
        assert browser.run(GROUND) == own
        click(browser, "#theme-light" if is_dark else "#theme-dark")
        assert browser.run(GROUND) == other


def test_a_link_of_the_plan_opens_where_it_leads(browser: Page, address: str) -> None:
    browser.open(address)
    click(browser, "#fold")
    click(browser, "#fold")
    click(browser, "aside a[href='#goal-1']")
    browser.run("new Promise(done => setTimeout(done, 100))")
    assert browser.run("document.getElementById('goal-1').open") is True


@pytest.mark.parametrize("width", [1200, 400])
def test_nothing_is_wider_than_the_window(browser: Page, address: str, width: int) -> None:
    browser.open(address, width)
    click(browser, "#fold")
    assert browser.run(f"document.documentElement.scrollWidth <= {width}") is True


def test_no_request_leaves_the_page_and_nothing_in_it_fails(browser: Page, address: str) -> None:
    browser.requests.clear()
    browser.faults.clear()
    browser.open(address)
    click(browser, "#fold")
    browser.run(SEARCH % "a")
    outside = [url for url in browser.requests if url != address and not url.startswith("data:")]
    assert outside == []
    assert browser.faults == []
    # The policy holds also against a script that came in some other way.
    browser.run("document.body.insertAdjacentHTML('beforeend', '<img src=\"http://evil.example/x.png\">')")
    browser.run("new Promise(done => setTimeout(done, 100))")
    assert any("Content Security Policy" in fault for fault in browser.faults)


def test_a_session_of_five_thousand_messages_opens_and_is_searched_in_time(
    browser: Page, tmp_path: Path
) -> None:
    path = tmp_path / "long.html"
    path.write_text(html_page(long_session(5_000)))
    browser.open(path.as_uri())
    click(browser, "#fold")
    milliseconds = browser.run(
        "(async () => { const t = performance.now(); document.getElementById('q').value = 'part 77';"
        " document.getElementById('q').dispatchEvent(new Event('input'));"
        " while (!document.getElementById('hits').textContent) await new Promise(requestAnimationFrame);"
        " return performance.now() - t })()"
    )
    assert isinstance(milliseconds, (int, float))
    assert milliseconds < 5_000
