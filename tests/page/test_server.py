"""The server: what it answers, what it refuses, and how much it takes at once."""

from __future__ import annotations

import asyncio
import errno
import json
import re
import socket
import threading
import xml.etree.ElementTree as ElementTree
from collections import Counter
from ipaddress import ip_address

import pytest

pytest.importorskip("starlette", reason="no web server: pip install -e .[demo]")
httpx = pytest.importorskip("httpx", reason="pip install httpx")

from typer.testing import CliRunner  # noqa: E402

from spacy_lal.annotate import annotating  # noqa: E402
from spacy_lal.cli import app as lal  # noqa: E402
from spacy_lal.page import app as module  # noqa: E402
from spacy_lal.page.app import Limits, Worker, make_app  # noqa: E402
from spacy_lal.trees.tree import ConstituentTree  # noqa: E402

TEXT = "The cat sat on the mat. Go home!"
LIMITS = Limits(max_chars=200, max_trees=5, waiting=3, seconds=20)


class Client:
    """Requests to an application, without a network."""

    def __init__(self, app):
        self.app = app

    async def _send(self, method, path, **request):
        transport = httpx.ASGITransport(self.app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://testserver") as client:
            return await client.request(method, path, **request)

    def get(self, path, **request):
        return asyncio.run(self._send("GET", path, **request))

    def post(self, path, **request):
        return asyncio.run(self._send("POST", path, **request))


@pytest.fixture(scope="module")
def client(nlp):
    return Client(make_app({"tiny": nlp}, LIMITS, hosts=["testserver"]))


def parse(client, **asked):
    return client.post("/parse", json=asked)


def test_all_of_a_text(client, nlp):
    response = parse(client, text=TEXT, views=["tree"])
    assert response.status_code == 200
    found = response.json()
    doc = nlp(TEXT)
    assert found["model"] == "tiny"
    assert found["record"]["words"] == [token.text for token in doc]
    assert found["brackets"] == [str(tree) for tree in doc._.trees]
    assert found["conllu"].count("\n1\t") == 2
    for pictures in (found["pictures"], found["turned"]):
        root = ElementTree.fromstring(pictures["tree"])
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
        assert "<style" not in pictures["tree"]  # the page's own style sheets do
    spans = {(s["start"], s["end"]) for s in found["record"]["constituents"]}
    assert {(c["start"], c["end"]) for c in found["contributions"]} == spans
    for of_span in found["contributions"]:
        shares = [share for _, share in of_span["heads"]]
        assert shares == sorted(shares, reverse=True)


def test_every_view(client):
    about = client.get("/models").json()
    views = about["models"]["tiny"]
    assert {about["names"][view] for view in views} > {"Tree", "Best trees"}
    assert views == ["all", "tree", "boxes", "kbest", "probabilities", "label_attention"]
    found = parse(client, text=TEXT, views=views).json()
    assert [*found["pictures"]] == [view for view in views if view != "kbest"]
    for view, picture in found["pictures"].items():
        ElementTree.fromstring(f"<body>{picture}</body>")
        assert parse(client, text=TEXT, views=[view]).json()["pictures"] == {view: picture}
    card = about["cards"]["tiny"]
    assert (card["lang"], card["components"][-1]) == ("en", "lal_constituency")


def test_meanings_of_labels(client):
    labels = client.get("/labels").json()
    assert labels["NP"] == "noun phrase"
    assert {"ARGM-CAU", "nsubj:pass", "M:DET"} <= set(labels)


def test_best_trees(client):
    found = parse(client, text=TEXT, trees=3).json()
    (trees, _) = found["kbest"]
    assert len(trees) == 3
    probabilities = [tree["log_prob"] for tree in trees]
    assert probabilities == sorted(probabilities, reverse=True)
    read = [ConstituentTree.from_string(tree["brackets"]) for tree in trees]
    assert len(set(read)) == 3
    chosen = ConstituentTree.from_string(found["brackets"][0])
    for tree, listed in zip(read, trees, strict=True):
        mine, other = Counter(chosen.spans()), Counter(tree.spans())
        signs = [said[0] for said in listed["differs"]]
        assert signs.count("+") == (other - mine).total()
        assert signs.count("−") == (mine - other).total()


def test_matches(client):
    found = parse(client, text=TEXT, query="/^[A-Z]/=phrase < (/./=word !< __)").json()
    words = found["record"]["words"]
    places = {(s["start"], s["end"]) for s in found["record"]["constituents"]}
    assert found["matches"]
    for match in found["matches"]:
        phrase, word = match["names"]
        assert phrase == {"name": "phrase", "start": match["start"], "end": match["end"]}
        assert word["end"] == word["start"] + 1 <= len(words)
        assert (match["start"], match["end"]) in places or match["end"] == match["start"] + 1
    wrong = parse(client, text=TEXT, query="NP <").json()
    assert "matches" not in wrong
    assert wrong["query_error"].startswith("column 5: ")
    assert wrong["query_error"].endswith("\n      ^")
    lacking = parse(client, text=TEXT, query="{} >ARG0 {}").json()
    assert "which the Doc doesn't have" in lacking["query_error"]


def test_as_many_trees_as_are_asked_for(client, nlp):
    for views, trees in (([], 3), (["tree"], 2), (["kbest"], 1)):
        found = parse(client, text=TEXT, views=views, trees=trees).json()
        assert [len(of_sentence) for of_sentence in found["kbest"]] == [trees] * 2
        assert [*found["pictures"]] == [view for view in views if view == "tree"]
    assert "kbest" not in parse(client, text=TEXT).json()


@pytest.mark.parametrize(
    "text", ["", " ", "\n\n", "a", "\x00", "ا ب", "👩‍👩‍👧 语言", "</script><b>&'\""]
)
def test_any_text(client, text):
    views = ["all", "tree", "boxes", "kbest", "probabilities", "label_attention"]
    response = parse(client, text=text, views=views, trees=2, query="NP < __")
    assert response.status_code == 200
    assert response.json()["record"]["text"] == text


@pytest.mark.parametrize(
    ("asked", "status", "said"),
    [
        ({}, 400, "text: Field required"),
        ({"text": 3}, 400, "text: Input should be a valid string"),
        ({"text": "a" * 201}, 413, "text: String should have at most 200 characters"),
        ({"text": "a" * 100_000}, 413, "the text is too long: at most 200 characters"),
        ({"text": "a", "model": "other"}, 400, "model: Input should be 'tiny'"),
        ({"text": "a", "model": ["tiny"]}, 400, "model: Input should be 'tiny'"),
        ({"text": "a", "views": ["srl"]}, 400, "views[0]: Input should be 'all', 'tree', 'boxes'"),
        ({"text": "a", "views": "tree"}, 400, "views: Input should be a valid array"),
        ({"text": "a", "query": "a" * 501}, 413, "query: String should have at most 500"),
        ({"text": "a", "trees": 6}, 400, "trees: Input should be less than or equal to 5"),
        ({"text": "a", "trees": True}, 400, "trees: Input should be a valid integer"),
        ({"text": "a", "trees": 1.5}, 400, "trees: Input should be a valid integer"),
        ({"text": "a", "colour": "red"}, 400, "colour: Extra inputs are not permitted"),
        ([], 400, "Input should be an object"),
    ],
)  # fmt: skip
def test_refused(client, asked, status, said):
    response = client.post("/parse", json=asked)
    assert response.status_code == status
    assert said in response.json()["error"]


def test_refused_before_it_is_read(client):
    for body, kind, status in (
        (b'{"text": "a"}', "text/plain", 415),  # what another site's page could send
        (b"{", "application/json", 400),
        (b"[" * 3000, "application/json", 400),
        (b'{"text": "\\ud800"}', "application/json", 400),
        (b"\xff", "application/json", 400),
    ):
        response = client.post("/parse", content=body, headers={"Content-Type": kind})
        assert (response.status_code, list(response.json())) == (status, ["error"])
    assert client.get("/parse").status_code == 405
    assert client.get("/nothing").status_code == 404


def test_other_names_are_refused(client):
    response = client.get("/health", headers={"Host": "evil.example"})
    assert response.status_code == 400


def test_a_pipeline_that_fails_says_nothing_of_itself(client, monkeypatch):
    def fails(*_):
        raise RuntimeError("/secret/path")

    monkeypatch.setattr(module, "answer", fails)
    response = parse(client, text="a")
    assert response.status_code == 500
    assert response.json() == {"error": "the pipeline failed on this text"}


def test_health_and_schema(client):
    assert client.get("/health").json() == {"status": "ok", "models": ["tiny"], "waiting": 0}
    schema = client.get("/openapi.json").json()
    answers = schema["paths"]["/parse"]["post"]["responses"]
    said = answers["200"]["content"]["application/json"]["schema"]
    parts = schema["components"]["schemas"]
    assert parts["Question"]["properties"]["text"]["maxLength"] == 200
    found = parse(client, text=TEXT, views=["tree"], trees=2, query="NP").json()
    assert found["record"]["constituents"]
    fits(found, said, parts)
    assert set(found) <= set(parts["Answer"]["properties"])
    assert set(found["record"]) <= set(parts["AnnotatedText"]["properties"])
    with pytest.raises(AssertionError):
        fits(found | {"record": found["record"] | {"tags": [1]}}, said, parts)


ANY: dict = {}


def fits(value, schema, parts):
    """As far as the schema here goes: types, properties, items, one of several."""
    if "$ref" in schema:
        schema = parts[schema["$ref"].rpartition("/")[2]]
    if "anyOf" in schema:
        assert any(is_fit(value, one, parts) for one in schema["anyOf"])
        return
    if schema is ANY:
        return
    kinds = {
        "object": dict, "array": list, "string": str, "integer": int,
        "number": (int, float), "null": type(None),
    }  # fmt: skip
    assert isinstance(value, kinds[schema["type"]])
    if isinstance(value, dict):
        assert set(schema.get("required", ())) <= set(value)
        for name, part in value.items():
            fits(part, schema.get("properties", {}).get(name, ANY), parts)
    if isinstance(value, list):
        for k, part in enumerate(value):
            fits(part, schema["items"] if "items" in schema else schema["prefixItems"][k], parts)


def is_fit(value, schema, parts):
    try:
        fits(value, schema, parts)
    except AssertionError:
        return False
    return True


def test_the_page_forbids_what_it_does_not_need(client):
    for path in ("/", *module.FILES, "/pictures.css", "/labels", "/nothing"):
        headers = client.get(path).headers
        policy = dict(
            part.strip().partition(" ")[::2]
            for part in headers["content-security-policy"].split(";")
        )
        assert policy["default-src"] == "'none'"
        assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
        assert headers["x-content-type-options"] == "nosniff"
    page = client.get("/").text
    assert page.count("<script") == page.count('<script src="/page.js"') == 1
    for path in module.FILES:
        text = client.get(path).text
        assert not re.search("\\sstyle=[\"']", text)
        for namespace in ("1999/xhtml", "2000/svg"):
            text = text.replace(f"http://www.w3.org/{namespace}", "")
        assert "http" not in text
        assert "innerHTML" not in text
        assert "eval(" not in text


def test_a_taken_port_is_said_before_pipelines_are_loaded():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        said = CliRunner().invoke(lal, ["serve", "no_such_pipeline", "--port", port])
    assert said.exit_code == 1
    assert f"serve: [Errno {errno.EADDRINUSE}]" in said.output
    assert f"('127.0.0.1', {port})" in said.output


@pytest.mark.parametrize(
    ("options", "shown"),
    [
        (["--host", "2001:db8::5"], "[2001:db8::5]"),
        (["--host", "2001:0db8:0:0::5"], "[2001:db8::5]"),
        (["--host", "::", "--allow-host", "2001:db8::5"], "[2001:db8::5]"),
        (["--host", "::", "--allow-host", "[2001:db8::5]"], "[2001:db8::5]"),
        (["--host", "192.0.2.5"], "192.0.2.5"),
        (["--host", "0.0.0.0"], "localhost"),
        (["--host", "::"], "localhost"),
    ],
)
def test_the_server_answers_at_its_address(nlp, monkeypatch, options, shown):
    uvicorn = pytest.importorskip("uvicorn", reason="no web server: pip install -e .[demo]")
    apps = []

    class Listening:
        def __init__(self, host):
            self.host = str(ip_address(host))

        def getsockname(self):
            return self.host, 8000

    class Server:
        def __init__(self, config):
            apps.append(config.app)

        def run(self, sockets):
            pass

    monkeypatch.setattr(socket, "create_server", lambda place, family: Listening(place[0]))
    monkeypatch.setattr(annotating, "load", lambda name, gpu: nlp)
    monkeypatch.setattr(uvicorn, "Server", Server)
    said = CliRunner().invoke(lal, ["serve", "tiny", *options])
    assert said.exit_code == 0
    if "--allow-host" not in options:
        assert f"http://{shown}:8000 shows tiny" in said.output
    for host, status in ((f"{shown}:8000", 200), ("[2001:db8::6]:8000", 400)):
        assert Client(apps[0]).get("/health", headers={"Host": host}).status_code == status


# The queue


def test_in_order_and_no_more_than_it_takes():
    async def run():
        worker = Worker(Limits(waiting=2, seconds=20))
        gate, order = threading.Event(), []
        first = asyncio.create_task(worker.do(gate.wait))
        others = [
            asyncio.create_task(worker.do(lambda k=k: order.append(k) or k)) for k in range(2)
        ]
        await asyncio.sleep(0.01)
        assert worker.waiting == 3
        with pytest.raises(asyncio.QueueFull):
            await worker.do(lambda: None)
        gate.set()
        assert await first
        assert await asyncio.gather(*others) == [0, 1] == order
        while worker.waiting:
            await asyncio.sleep(0.01)
        assert await worker.do(lambda: 7) == 7
        worker.close()

    asyncio.run(run())


def test_what_takes_too_long_is_given_up():
    async def run():
        worker = Worker(Limits(waiting=2, seconds=0.05))
        gate, done = threading.Event(), []
        slow = asyncio.create_task(worker.do(gate.wait))
        never = asyncio.create_task(worker.do(lambda: done.append(1)))
        for task in (slow, never):
            with pytest.raises(TimeoutError):
                await task
        gate.set()
        while worker.waiting:
            await asyncio.sleep(0.01)
        assert not done  # nobody waited for it any more
        worker.close()

    asyncio.run(run())


def test_errors_come_back():
    async def run():
        worker = Worker(Limits(waiting=1, seconds=20))
        with pytest.raises(ZeroDivisionError):
            await worker.do(lambda: 1 // 0)
        worker.close()

    asyncio.run(run())


def test_busy_and_slow_are_said(client, nlp, monkeypatch):
    reasons = ((asyncio.QueueFull, "too many texts are waiting"), (TimeoutError, "was not done in"))
    for error, said in reasons:

        async def do(self, work, error=error):
            raise error

        monkeypatch.setattr(Worker, "do", do)
        response = parse(client, text="a")
        assert response.status_code == 503
        assert said in response.json()["error"]
        assert int(response.headers["retry-after"]) > 0


def test_many_at_once(nlp):
    """50 requests of mixed size, at once: each is answered, or told to come again."""
    limits = Limits(max_chars=200, waiting=60, seconds=60)
    app = make_app({"tiny": nlp}, limits, hosts=["testserver"])

    async def run():
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://testserver") as client:
            texts = [" ".join(["cat"] * (1 + 9 * (k % 8))) for k in range(50)]
            asked = [client.post("/parse", json={"text": text}, timeout=60) for text in texts]
            return texts, await asyncio.gather(*asked)

    texts, responses = asyncio.run(run())
    for text, response in zip(texts, responses, strict=True):
        if len(text) > limits.max_chars:
            assert response.status_code == 413
        else:
            assert response.status_code == 200
            assert response.json()["record"]["text"] == text


def test_strings_of_texts_do_not_stay(client, nlp):
    parse(client, text="The cat sat.", views=["tree"])
    before = len(nlp.vocab.strings)
    for k in range(20):
        assert parse(client, text=f"zyx{k}q sat on wvu{k}.", views=["tree"]).status_code == 200
    assert len(nlp.vocab.strings) <= before + 2


def test_json_is_plain(client):
    text = parse(client, text=TEXT, trees=2).text
    json.loads(text, parse_constant=lambda name: pytest.fail(name))


def test_a_text_in_another_language(client):
    german = parse(client, text="Der Hund hat das Haus nicht gesehen.").json()
    assert german["warning"] == "The text looks like German, not English"
    assert "warning" not in parse(client, text=TEXT).json()


def test_records_have_the_same_fields(client):
    whole = parse(client, text=TEXT).json()["record"].keys()
    for text in ("", " ", "\n\n"):
        assert parse(client, text=text).json()["record"].keys() == whole
