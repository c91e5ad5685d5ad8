"""The command line `python -m spacy lal …`; its import adds the commands to spaCy's own."""

from spacy.cli._util import app as spacy_app

from .annotate import annotate, silver
from .attention import attention
from .checks import Group
from .convert import convert_app
from .correct import correct
from .download import download
from .edit import edit, find_threshold, import_checkpoint
from .evaluate import evaluate
from .import_encoder import import_encoder
from .inspect import inspect
from .make_errors import corrupt
from .package import package
from .score import score_app
from .search import search
from .serve import serve
from .train import train

app = Group(
    name="lal", help="Constituency trees, dependencies, semantic roles and grammatical errors."
)
app.add_typer(convert_app)
app.add_typer(score_app)
app.command("import")(import_checkpoint)
for command in (
    *(annotate, attention, correct, corrupt, download, edit, evaluate, find_threshold),
    *(import_encoder, inspect, package, search, serve, silver),
):
    app.command()(command)
# overrides of the config's settings, as in `spacy train`
app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})(train)
spacy_app.add_typer(app)
