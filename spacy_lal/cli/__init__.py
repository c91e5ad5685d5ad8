"""`python -m spacy lal …`: importing this puts the commands under spaCy's own."""

import typer
from spacy.cli._util import app as spacy_app

from .convert import convert_app
from .corrupt import corrupt, error_model
from .evalb import evalb
from .export_ged import export_ged
from .export_props import export_props
from .ged_eval import ged_eval
from .heads import heads
from .srl_eval import srl_eval

app = typer.Typer(
    name="lal",
    help="Constituency trees, semantic roles and what belongs to them.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.add_typer(convert_app)
app.command()(corrupt)
app.command()(error_model)
app.command()(evalb)
app.command()(export_ged)
app.command()(export_props)
app.command()(ged_eval)
app.command()(heads)
app.command()(srl_eval)
spacy_app.add_typer(app)
