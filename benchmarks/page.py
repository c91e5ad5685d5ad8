"""Speed of the page, and its behaviour under load: `python benchmarks/page.py MODEL`.

Times one sentence of 20 words in this process, then over HTTP from `lal serve` on one thread and a
free port of this machine.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from http.client import HTTPConnection
from pathlib import Path
from statistics import quantiles
from typing import NamedTuple

import spacy
import torch
import typer

from spacy_lal.page.answers import answer

SENTENCE = (
    "The committee promised to publish the long report before the end of the year, but nobody "
    "really believed it then."
)
AT_ONCE = 50
SENTENCES = (1, 1, 2, 2, 5, 10, 17, 30, 1000)
"""Numbers of sentences of concurrent texts, in turn; the last two are too long."""
VIEWS: tuple[list[str], ...] = ([], ["tree"])


class Server(NamedTuple):
    """A running `lal serve`."""

    process: int
    address: str


@contextmanager
def serving(model: str) -> Iterator[Server]:
    command = [sys.executable, "-m", "spacy", "lal", "serve", model, "--port", "0"]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as started:
        assert started.stdout is not None
        for said in started.stdout:
            if found := re.search(r"http://(\S+)", said):
                try:
                    yield Server(started.pid, found[1])
                finally:
                    started.terminate()
                return


def post(server: Server, text: str, views: list[str]) -> tuple[int, str]:
    """Return the status, and the server's answer if it is not 200."""
    connection = HTTPConnection(server.address, timeout=120)
    body = json.dumps({"text": text, "views": views})
    connection.request("POST", "/parse", body, {"Content-Type": "application/json"})
    response = connection.getresponse()
    found = json.loads(response.read())
    connection.close()
    return response.status, found.get("error", "")


def memory(server: Server) -> float:
    """Return the process's resident memory in MB (Linux)."""
    pages = Path(f"/proc/{server.process}/statm").read_text(encoding="utf8").split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE") / 1e6


def percentiles(do: Callable[[], object], clock: Callable[[], float], times: int) -> str:
    taken = []
    for _ in range(times + 5):
        begun = clock()
        do()
        taken.append(1000 * (clock() - begun))
    parts = quantiles(taken[5:], n=20)
    return f"p50 {parts[9]:.0f} ms, p95 {parts[18]:.0f} ms"


def all_at_once(server: Server) -> Counter[tuple[int, str]]:
    """Return counts of the answers to concurrent requests of mixed size."""
    texts = [" ".join([SENTENCE] * SENTENCES[k % len(SENTENCES)]) for k in range(AT_ONCE)]
    with ThreadPoolExecutor(AT_ONCE) as threads:
        views = [VIEWS[k % 2] for k in range(AT_ONCE)]
        return Counter(threads.map(partial(post, server), texts, views))


def main(model: str, times: int = 40, rounds: int = 5) -> None:
    """Time the page without a picture, and with the tree and the heads' contributions."""
    torch.set_num_threads(1)
    nlp = spacy.load(model)
    for views in VIEWS:
        ask = partial(answer, nlp, SENTENCE, views)
        said = percentiles(ask, time.process_time, times)
        print(f"{', '.join(views) or 'no picture'}: {said} of CPU time")
    with serving(model) as server:
        for views in VIEWS:
            said = percentiles(partial(post, server, SENTENCE, views), time.perf_counter, times)
            print(f"{', '.join(views) or 'no picture'}, over HTTP: {said}")
        print(f"memory of the server: {memory(server):.0f} MB")
        for k in range(rounds):
            print(f"{AT_ONCE} requests at once, {k + 1}:")
            for (status, said), count in sorted(all_at_once(server).items()):
                print(f"  {count} times {status} {said}")
            print(f"  memory {memory(server):.0f} MB")


if __name__ == "__main__":
    typer.run(main)
