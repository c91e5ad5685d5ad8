"""`python -m spacy lal …`: importing this puts the commands under spaCy's own."""

import typer
from spacy.cli._util import app as spacy_app

from .annotate import annotate
from .calibrate import calibrate
from .convert import convert_app
from .corrupt import corrupt, error_model
from .evalb import evalb
from .evaluate import evaluate
from .evaluate_ged import evaluate_ged
from .evaluate_raw import evaluate_raw
from .evaluate_srl import evaluate_srl
from .ged_eval import ged_eval
from .ged_pairs import ged_pairs
from .heads import heads
from .import_benepar import import_benepar
from .import_lal_parser import import_lal_parser
from .import_published import import_app
from .import_supar import import_supar
from .package import package
from .serve import serve
from .settings import settings
from .silver import silver
from .srl_eval import srl_eval
from .threshold import threshold
from .train import train

app = typer.Typer(
    name="lal",
    help="Constituency trees, dependencies, semantic roles and grammatical errors.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.add_typer(convert_app)
import_app.command("benepar")(import_benepar)
import_app.command("lal-parser")(import_lal_parser)
import_app.command("supar")(import_supar)
app.add_typer(import_app)
for command in (
    *(corrupt, error_model, heads),
    *(evaluate, evaluate_raw, evaluate_srl, evaluate_ged),
    *(evalb, srl_eval, ged_eval, ged_pairs),
    *(annotate, silver, calibrate),
    serve,
    *(package, threshold),
):
    app.command()(command)
# settings of the config, as `spacy train` takes them
_OPEN = {"allow_extra_args": True, "ignore_unknown_options": True}
app.command(context_settings=_OPEN)(train)
app.command(context_settings=_OPEN)(settings)
spacy_app.add_typer(app)
