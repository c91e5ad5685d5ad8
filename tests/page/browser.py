"""The page in a real Chromium: `make test-page`. Not among the tests of `make test`.

PICTURES=FOLDER keeps screenshots, light and dark, 1280 and 390 pixels wide.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from .chromium import Browser, program

pytest.importorskip("starlette", reason="no web server: pip install -e .[demo]")
if program() is None:
    pytest.skip("no Chromium here (Debian: apt-get install chromium)", allow_module_level=True)

MODELS = ("en_lal_sm", "en_lal_ged_sm")
for name in MODELS:
    pytest.importorskip(name, reason=f"pip install ./packages/{name}")

LONG = (
    "When the old harbour master finally opened the letter that his daughter had sent from Lisbon "
    "in the spring, he sat down on the stone wall, read it twice without a word, and then asked "
    "the boys who were mending nets whether anyone still sailed there in winter."
)
HOSTILE = '<img src=x onerror=alert(1)> </script><script>window.hurt=1</script> it\'s "&amp;"'
WIDE, NARROW = (1280, 900), (390, 844)


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    command = [sys.executable, "-m", "spacy", "lal", "serve", *MODELS, "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        said = ""
        for said in server.stdout:
            if found := re.search(r"http://\S+", said):
                yield found[0]
                break
        else:
            raise AssertionError(f"the server did not start: {said}")
        server.terminate()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    path = program()
    assert path is not None
    with Browser(path) as browser:
        yield browser


@pytest.fixture
def page(browser: Browser, url: str) -> Browser:
    browser.size(*WIDE)
    browser.go("about:blank")
    browser.events.clear()
    browser.go(url + "/")
    ready(browser)
    return browser


def ready(page: Browser) -> None:
    page.wait("/ ms$/.test(document.getElementById('status').textContent)")


def type_text(page: Browser, text: str) -> None:
    page.js("document.getElementById('text').select()")
    page.click("#text")
    page.js("document.getElementById('text').select()")
    page.type(text)
    page.js("document.getElementById('status').textContent = ''")
    page.click("#go")
    ready(page)


def show(page: Browser, view: str) -> None:
    page.js("document.getElementById('status').textContent = ''")
    page.click(f"#view-{view}")
    ready(page)


def picture(page: Browser, name: str) -> None:
    if folder := os.environ.get("PICTURES"):
        Path(folder).mkdir(parents=True, exist_ok=True)
        page.js("scrollTo(0, 0)")
        page.picture(Path(folder) / f"{name}.png")


def complaints(page: Browser) -> list[dict]:
    """What the browser found wrong, and requests to anywhere else."""
    page.js("1")  # events that came before this answer are there now
    found = [
        event
        for event in page.events
        if event["method"] == "Runtime.exceptionThrown"
        or (event["method"] == "Log.entryAdded" and event["params"]["entry"]["level"] == "error")
    ]
    return found


def requested(page: Browser) -> set[str]:
    """Whom it asked for something; the empty page before it may still be told of."""
    sent = [e for e in page.events if e["method"] == "Network.requestWillBeSent"]
    urls = [urlsplit(event["params"]["request"]["url"]) for event in sent]
    return {url.netloc for url in urls if url.scheme != "about"}


def test_every_view_of_every_pipeline(page: Browser, url: str) -> None:
    for model in MODELS:
        page.js("document.getElementById('status').textContent = ''")
        page.js(
            f"(()=>{{const m=document.getElementById('model');m.value='{model}';"
            "m.dispatchEvent(new Event('change'))})()"
        )
        ready(page)
        for view in page.js(
            "[...document.querySelectorAll('#views button')].map(b=>b.id.slice(5))"
        ):
            show(page, view)
            assert page.js("document.getElementById('picture').childElementCount") > 0
            picture(page, f"{model}-{view}")
    assert complaints(page) == []
    assert requested(page) == {urlsplit(url).netloc}


def test_typing_hovering_and_going_back(page: Browser) -> None:
    type_text(page, "Rain fell.")
    assert page.js("document.querySelectorAll('#picture .lal-node').length") >= 2
    page.hover("#picture .lal-node")
    page.wait("document.getElementById('details').textContent.includes('Rain')")
    said = page.js("document.getElementById('details').textContent")
    assert "probability" in said
    assert "heads that contribute most" in said
    first = page.js("location.hash")
    show(page, "kbest")
    assert page.js("document.querySelectorAll('#picture figure').length") == 3
    show(page, "tree")
    type_text(page, "Snow melts.")
    assert parse_qs(page.js("location.hash.slice(1)"))["text"] == ["Snow melts."]
    for _ in range(3):
        page.js("history.back()")
        page.js("new Promise(done => setTimeout(done, 300))")
    page.wait(f"location.hash == {json.dumps(first)}")
    page.wait("document.getElementById('text').value == 'Rain fell.'")
    page.wait("document.getElementById('picture').textContent.includes('Rain')")
    # the address alone brings all of it back
    page("Page.reload")
    page.wait("document.readyState == 'complete' && document.getElementById('text') != null")
    page.wait("document.getElementById('text').value == 'Rain fell.'")


def test_what_is_typed_stays(page: Browser) -> None:
    """Whatever shows it: a view, the arrow keys, the number of trees."""
    area = "document.getElementById('text').value"

    def after(act: str, text: str) -> None:
        page.js(f"{area} = {json.dumps(text)}")
        page.js("document.getElementById('status').textContent = ''")
        page.js(act)
        ready(page)
        assert page.js(area) == text
        assert parse_qs(page.js("location.hash.slice(1)"))["text"] == [text]
        words = page.js("document.getElementById('picture').textContent")
        assert all(word in words for word in text[:-1].split())

    key = "new KeyboardEvent('keydown', {key: 'ArrowRight', bubbles: true})"
    after("document.getElementById('view-boxes').click()", "Rain fell.")
    after(f"document.getElementById('view-boxes').dispatchEvent({key})", "Snow melts.")
    assert page.js("document.getElementById('for-trees').hidden") is False
    after(
        "(()=>{const t=document.getElementById('trees');t.value='2';"
        "t.dispatchEvent(new Event('change'))})()",
        "Birds sing.",
    )
    assert page.js("document.querySelectorAll('#picture figure').length") == 2


def test_the_keyboard_reaches_everything(page: Browser) -> None:
    page.js("document.getElementById('text').focus()")
    reached = []
    for _ in range(40):
        page.key("Tab", 9)
        name = page.js("document.activeElement.id || document.activeElement.className.baseVal")
        reached.append(name)
    for wanted in ("model", "go", "view-tree", "lal-node", "copy-json"):
        assert wanted in reached
    page.js("document.querySelector('#picture .lal-node').focus()")
    page.wait("document.getElementById('details').textContent.includes('probability')")
    page.js("document.getElementById('view-tree').focus()")
    page.key("ArrowRight", 39)
    page.wait("document.activeElement.id == 'view-boxes'")


def test_the_threshold(page: Browser, url: str) -> None:
    page.go(f"{url}/#model=en_lal_ged_sm&view=errors&threshold=0&text=He+go+home.")
    page("Page.reload")
    page.wait("document.querySelectorAll('.lal-wrong').length == 4")
    page.js(
        "(()=>{const t=document.getElementById('threshold');t.value='1';"
        "t.dispatchEvent(new Event('input'));t.dispatchEvent(new Event('change'))})()"
    )
    assert page.js("document.querySelectorAll('.lal-wrong').length") == 0
    assert "no words are marked" in page.js("document.getElementById('details').textContent")
    assert "threshold=1" in page.js("location.hash")


def test_injections_stay_text(page: Browser) -> None:
    type_text(page, HOSTILE)
    for view in ("tree", "boxes", "kbest", "probabilities", "heads", "srl", "srl_arcs"):
        show(page, view)
        assert page.js("document.querySelectorAll('#picture img, #picture script').length") == 0
    assert page.js("window.hurt") is None
    assert not [e for e in page.events if e["method"] == "Page.javascriptDialogOpening"]
    assert complaints(page) == []


def test_too_long_is_said(page: Browser) -> None:
    page.js("document.getElementById('text').removeAttribute('maxlength')")
    page.js("document.getElementById('text').value = 'a '.repeat(2000)")
    page.click("#go")
    page.wait("document.getElementById('status').textContent.includes('at most 2,000')")


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["1280", "390"])
def test_a_long_sentence(page: Browser, size: tuple[int, int], dark: bool) -> None:
    """At both widths: nothing sticks out of the page, no text lies on another, none is small."""
    page.size(*size, dark=dark)
    type_text(page, LONG)
    for view in ("tree", "boxes", "srl", "heads", "kbest", "srl_arcs"):
        show(page, view)
        picture(page, f"{view}-{size[0]}-{'dark' if dark else 'light'}")
        assert page.js("document.documentElement.scrollWidth") <= size[0]
        sizes = page.js(
            "[...document.querySelectorAll('main *')]"
            ".filter(e=>e.childElementCount==0&&e.textContent&&e.getClientRects().length).map(e=>parseFloat(getComputedStyle(e).fontSize))"
        )
        assert min(sizes) >= 11
        assert page.js(OVERLAPS) == []


OVERLAPS = """
(() => {
  const found = [];
  for (const svg of document.querySelectorAll('#picture svg')) {
    const room = svg.getBoundingClientRect();
    const boxes = [...svg.querySelectorAll('text')].filter(t => !t.hasAttribute('transform'))
      .map(t => { const b = t.getBoundingClientRect();
        // from the tops of capitals to the baseline, about: lines of glyphs are higher
        const h = b.height; return [b.left, b.top + 0.25 * h, b.right, b.bottom - 0.2 * h,
          t.textContent]; });
    boxes.forEach((a, i) => {
      if (a[0] < room.left - 1 || a[2] > room.right + 1) found.push(['clipped', a[4]]);
      for (const b of boxes.slice(i + 1))
        if (a[0] < b[2] - 0.5 && b[0] < a[2] - 0.5 && a[1] < b[3] && b[1] < a[3])
          found.push([a[4], b[4]]);
    });
  }
  return found.slice(0, 5);
})()
"""


def test_copying(page: Browser) -> None:
    # a browser without a window has no clipboard
    page.js(
        "Object.defineProperty(navigator, 'clipboard', {value:"
        "{writeText: text => {window.copied = text; return Promise.resolve()}}})"
    )
    for what, begins in (("brackets", "(TOP"), ("json", "{"), ("conllu", "#"), ("svg", "<svg")):
        page.click(f"#copy-{what}")
        page.wait("document.getElementById('copied').textContent.includes('copied')")
        assert page.js("window.copied").startswith(begins)
        page.js("document.getElementById('copied').textContent = ''")
