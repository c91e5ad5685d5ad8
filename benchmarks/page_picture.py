"""Take docs/pictures/page.png, the page in Chromium with a sentence by a learner.

python benchmarks/page_picture.py [OUTPUT]
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlencode

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.page.chromium import Browser, program  # noqa: E402

TEXT = "He go to school every day, because he want to learning English."
SIZE = 900, 700


def main(output: Path) -> None:
    """Start the page, show the errors of a text, and write the picture."""
    chromium = program()
    if chromium is None:
        sys.exit("no Chromium here (Debian: apt-get install chromium)")
    command = [sys.executable, "-m", "spacy", "lal", "serve", "en_lal_ged_md", "--port", "0"]
    with (
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server,
        Browser(chromium) as browser,
    ):
        assert server.stdout is not None
        url = next(found[0] for said in server.stdout if (found := re.search(r"http://\S+", said)))
        browser.size(*SIZE)
        browser("Page.navigate", url=f"{url}/#{urlencode({'text': TEXT, 'view': 'errors'})}")
        browser.wait("/ ms$/.test(document.getElementById('status').textContent)")
        browser.picture(output)
        server.terminate()


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs/pictures/page.png")
