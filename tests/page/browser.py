"""The page in a real Chromium: `make test-page`. Not among the tests of `make test`.

PICTURES=FOLDER keeps screenshots, light and dark, 1280, 768 and 390 pixels wide. AXE=FILE is
axe-core's axe.min.js (npm install axe-core), whose rules of accessibility are tested, too.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

from .chromium import Browser, program

pytest.importorskip("starlette", reason="no web server: pip install -e .[demo]")
if program() is None:
    pytest.skip("no Chromium here (Debian: apt-get install chromium)", allow_module_level=True)

MODELS = ("en_lal_sm", "en_lal_ged_md")
for name in MODELS:
    pytest.importorskip(name, reason=f"pip install ./packages/{name}")

LONG = (
    "When the old harbour master finally opened the letter that his daughter had sent from Lisbon "
    "in the spring, he sat down on the stone wall, read it twice without a word, and then asked "
    "the boys who were mending nets whether anyone still sailed there in winter."
)
HOSTILE = '<img src=x onerror=alert(1)> </script><script>window.hurt=1</script> it\'s "&amp;"'
WIDE, MIDDLE, NARROW = (1280, 900), (768, 1024), (390, 844)
SIXTY = " ".join(["The committee that the board appointed promised to publish a long report ."] * 5)
"""Five sentences, 65 words."""


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
    """Another view, which is there at once."""
    page.click(f"#view-{view}")
    assert page.js(f"document.getElementById('view-{view}').ariaSelected") == "true"


def text_of(page: Browser, name: str) -> str:
    return page.js(f"document.getElementById('{name}').textContent")


def count(page: Browser, selector: str) -> int:
    return page.js(f"document.querySelectorAll({json.dumps(selector)}).length")


def asked(page: Browser) -> int:
    """How many texts were sent to be annotated."""
    page.js("1")
    sent = [e for e in page.events if e["method"] == "Network.requestWillBeSent"]
    return sum(event["params"]["request"]["url"].endswith("/parse") for event in sent)


def opened(page: Browser, url: str, **state: str) -> None:
    page.go("about:blank")
    page("Page.navigate", url=f"{url}/#{urlencode(state)}")
    page.wait("document.getElementById('status') != null")
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
        opened(page, url, model=model)
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
    assert page.js("document.getElementById('view-heads').ariaSelected") == "true"
    show(page, "kbest")
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
    for _ in range(50):
        page.key("Tab", 9)
        name = page.js("document.activeElement.id || document.activeElement.className.baseVal")
        reached.append((name or "").split(" ")[0])
    for wanted in ("model", "go", "view-all", "query", "lal-node", "copy-json"):
        assert wanted in reached
    page.js("document.querySelector('#picture .lal-node').focus()")
    page.wait("document.getElementById('details').textContent.includes('probability')")
    page.js("document.getElementById('view-all').focus()")
    page.key("ArrowRight", 39)
    page.wait("document.activeElement.id == 'view-tree'")


def test_the_threshold(page: Browser, url: str) -> None:
    page.go(f"{url}/#model=en_lal_ged_md&view=errors&threshold=0&text=He+go+home.")
    page("Page.reload")
    page.wait("document.querySelectorAll('#picture .lal-wrong').length == 4")
    page.js(
        "(()=>{const t=document.getElementById('threshold');t.value='1';"
        "t.dispatchEvent(new Event('input'));t.dispatchEvent(new Event('change'))})()"
    )
    assert page.js("document.querySelectorAll('#picture .lal-wrong').length") == 0
    assert "no words are marked" in page.js("document.getElementById('details').textContent")
    assert "threshold=1" in page.js("location.hash")


def test_a_click_corrects_the_text(page: Browser, url: str) -> None:
    opened(page, url, text="😀 He go to school.", model="en_lal_ged_md", view="errors")
    page.js("document.getElementById('status').textContent = ''")
    page.click(".suggestion")
    ready(page)
    assert page.js("document.getElementById('text').value") == "😀 He goes to school."


def test_injections_stay_text(page: Browser) -> None:
    type_text(page, HOSTILE)
    for view in ("tree", "boxes", "kbest", "probabilities", "heads", "srl", "srl_lanes"):
        show(page, view)
        assert page.js("document.querySelectorAll('#picture img, #picture script').length") == 0
    assert page.js("window.hurt") is None
    assert not [e for e in page.events if e["method"] == "Page.javascriptDialogOpening"]
    assert complaints(page) == []


def test_too_long_is_said(page: Browser) -> None:
    page.js("document.getElementById('text').removeAttribute('maxlength')")
    page.js("document.getElementById('text').value = 'a '.repeat(2000)")
    page.click("#go")
    page.wait("document.getElementById('status').textContent.includes('at most 2000')")


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("size", [WIDE, MIDDLE, NARROW], ids=["1280", "768", "390"])
def test_a_long_sentence(page: Browser, size: tuple[int, int], dark: bool) -> None:
    """At all widths: nothing sticks out of the page, no text lies on another, none is small."""
    page.size(*size, dark=dark)
    type_text(page, LONG)
    for view in ("tree", "boxes", "srl", "heads", "kbest", "srl_lanes"):
        show(page, view)
        picture(page, f"{view}-{size[0]}-{'dark' if dark else 'light'}")
        assert page.js("document.documentElement.scrollWidth") <= size[0]
        sizes = page.js(
            "[...document.querySelectorAll('main *')]"
            ".filter(e=>e.childElementCount==0&&e.textContent&&e.getClientRects().length).map(e=>parseFloat(getComputedStyle(e).fontSize))"
        )
        assert min(sizes) >= 11
        assert page.js(OVERLAPS) == []
        if view in ("all", "tree"):
            assert page.js(ROOT_IN_VIEW)


ROOT_IN_VIEW = """
(() => {
  const root = document.querySelector('#picture .lal-node').getBoundingClientRect();
  const room = document.getElementById('pictures').getBoundingClientRect();
  return root.left >= room.left && root.right <= room.right
    && root.top >= room.top && root.bottom <= room.bottom;
})()
"""
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


def test_one_request_a_text_and_views_at_once(page: Browser) -> None:
    before = asked(page)
    type_text(page, SIXTY)
    views = page.js("[...document.querySelectorAll('#views button')].map(b=>b.id)")
    assert len(views) == 9
    page.js("new Promise(done => setTimeout(done, 2000))")
    took = {}
    for view in views:
        before_it = busy(page)
        page.js(f"document.getElementById('{view}').click()")
        page.js("new Promise(done => requestAnimationFrame(() => setTimeout(done)))")
        took[view] = round(busy(page) - before_it)
    print("milliseconds of views:", took)
    assert asked(page) == before + 1
    assert max(took.values()) <= 50


def busy(page: Browser) -> float:
    """Milliseconds of processor time of the page's main thread: other programs don't count."""
    page("Performance.enable", timeDomain="threadTicks")
    metrics = page("Performance.getMetrics")["metrics"]
    return 1000 * next(m["value"] for m in metrics if m["name"] == "TaskDuration")


def test_a_picture_is_there_soon_after_the_answer(page: Browser) -> None:
    """From the question to the painted answer of 65 words, without the server's work."""
    before = busy(page)
    type_text(page, SIXTY)
    page.js("new Promise(done => requestAnimationFrame(() => setTimeout(done)))")
    took = round(busy(page) - before)
    print("milliseconds from answer to picture:", took)
    assert took <= 300


def test_phrases_fold(page: Browser) -> None:
    show(page, "tree")
    shown = "#picture .lal-node:not([display])"
    whole = count(page, shown)
    page.click("#picture .lal-node[data-label=VP] text")
    folded = count(page, shown)
    assert folded < whole
    assert count(page, "#picture .roof") == 1
    assert count(page, "#picture .lal-word") == 9
    page.click("#picture .lal-node text")
    assert (count(page, shown), count(page, "#picture .roof")) == (1, 1)
    page.click("#picture .lal-node text")
    assert count(page, shown) == folded
    page.click("#unfold")
    assert (count(page, shown), count(page, "#picture .roof")) == (whole, 0)
    page.js("document.querySelector('#picture .lal-node').focus()")
    page.key("Enter", 13)
    assert count(page, shown) == 1


def test_words_and_phrases_light_up_together(page: Browser) -> None:
    page.hover("#picture .lal-word[data-start='3'] text:last-child")
    page.wait(
        "document.getElementById('details').textContent.startsWith('man: NN (noun, singular')"
    )
    around = page.js(
        "[...document.querySelectorAll('#picture .lal-node.lit')].every("
        "n=>Number(n.dataset.start)<=3&&Number(n.dataset.end)>3)"
    )
    assert around
    assert count(page, "#picture .lal-arc.lit[data-token='3']") == 1
    page.hover("#picture .lal-arg[data-label=ARG1]")
    page.wait("document.getElementById('details').textContent.includes('patient or theme')")
    lit = page.js(
        "[...document.querySelectorAll('#picture .lal-word.lit')].map(w=>w.dataset.start)"
    )
    assert lit == sorted(lit)
    assert "3" in lit


def test_patterns(page: Browser, url: str) -> None:
    opened(page, url, text="I saw the man with the telescope.", view="tree", query="NP < DT=the")
    assert text_of(page, "found").startswith("2 matches: “the man")
    assert count(page, "#picture .lal-node.found") == 2
    page.js("document.getElementById('query').value = 'NP < (DT'")
    page.js("document.getElementById('status').textContent = ''")
    page.js("document.getElementById('search').requestSubmit()")
    ready(page)
    lines = text_of(page, "query-error").split("\n")
    assert lines[0].startswith("column 9: ")
    assert lines[2].index("^") == 2 + len("NP < (DT")
    assert count(page, ".found") == 0


def test_two_pipelines_side_by_side(page: Browser, url: str) -> None:
    text = "He go to school every day, because he want to learning English."
    opened(page, url, text=text, other="en_lal_ged_md", view="all")
    assert page.js("[...document.querySelectorAll('#picture .pane h2')].map(h=>h.textContent)") == [
        *MODELS
    ]
    assert count(page, "#picture .pane:last-child .lal-word") == count(
        page, "#picture .pane:first-child .lal-word"
    )
    picture(page, "beside")
    opened(page, url, text=text, model="en_lal_ged_md", view="errors")
    assert count(page, "#errors li") == count(page, "#picture .lal-wrong")


def test_a_text_in_another_language_is_said(page: Browser, url: str) -> None:
    opened(page, url, text="Der Hund hat das Haus nicht gesehen.")
    assert text_of(page, "warning") == "The text looks like German, not English."
    opened(page, url, text="The dog slept.")
    assert page.js("document.getElementById('warning').hidden")


def test_examples_and_the_lines_that_draw_them(page: Browser) -> None:
    page.js("document.getElementById('status').textContent = ''")
    page.click("#examples button:nth-child(2)")
    ready(page)
    text = page.js("document.getElementById('text').value")
    assert "sent" in text_of(page, "picture")
    show(page, "tree")
    code = page.js("document.querySelector('#python code').textContent")
    names: dict[str, object] = {}
    exec(code, names)
    assert str(names["picture"]).startswith("<svg")
    assert names["doc"].text == text
    assert "F1" in text_of(page, "card")


def test_why_the_best_trees_differ(page: Browser) -> None:
    show(page, "kbest")
    line = page.js("document.querySelector('.why').textContent")
    assert line.startswith("The parser's own tree is ")
    said = 'c.textContent.includes("parser\'s own")'
    own = page.js(f"[...document.querySelectorAll('figcaption')].map(c=>{said})")
    assert sum(own) <= 1
    assert ("none of these" in line) == (sum(own) == 0)
    if own[0]:
        assert line.endswith("the most probable whole tree.")


def test_downloads(page: Browser) -> None:
    page.js(
        "window.saved=[];URL.createObjectURL=blob=>{window.saved.push(blob);return 'data:,'};"
        "HTMLAnchorElement.prototype.click=function(){window.named=this.download}"
    )
    show(page, "tree")
    wide = page.js("Number(document.querySelector('#picture svg').getAttribute('width'))")
    page.click("#save-svg")
    page.wait("window.saved.length == 1")
    svg = page.js("window.saved[0].text()")
    assert svg.startswith("<svg")
    assert "tabindex" not in svg
    page.click("#save-png")
    page.wait("window.saved.length == 2")
    assert page.js("window.named") == "tree.png"
    size = page.js("createImageBitmap(window.saved[1]).then(i=>[i.width,i.height])")
    assert size[0] == pytest.approx(2 * wide, abs=2)


def test_sizes(page: Browser) -> None:
    # the first picture, too, is turned only if it is wider than the page
    assert page.js("document.getElementById('turn').ariaPressed") == "false"
    show(page, "tree")
    wide = "Number(document.querySelector('#picture svg').getAttribute('width'))"
    before = page.js(wide)
    page.click("#larger")
    assert page.js(wide) > before
    page.click("#fit")
    assert page.js(wide) <= page.js("document.getElementById('pictures').clientWidth")
    tall = "Number(document.querySelector('#picture svg').getAttribute('height'))"
    flat = page.js(f"{wide} / {tall}")
    page.click("#turn")
    assert page.js("document.getElementById('turn').ariaPressed") == "true"
    assert page.js(f"{wide} / {tall}") != flat


@pytest.mark.skipif("AXE" not in os.environ, reason="AXE=FILE names axe-core's axe.min.js")
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["1280", "390"])
def test_rules_of_accessibility(page: Browser, size: tuple[int, int], dark: bool) -> None:
    page.size(*size, dark=dark)
    page.js(Path(os.environ["AXE"]).read_text(encoding="utf8") + ";0")
    page.js("document.querySelectorAll('details').forEach(d=>{d.open=true})")
    for view in page.js("[...document.querySelectorAll('#views button')].map(b=>b.id.slice(5))"):
        show(page, view)
        found = page.js(
            "axe.run().then(r=>r.violations.map(v=>[v.id,v.nodes.slice(0,3).map(n=>n.html)]))"
        )
        assert found == [], view


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
