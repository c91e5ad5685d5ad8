"""Two-stage scores of spans: first of nodes of the tree, then of their labels."""

from dataclasses import dataclass
from typing import ClassVar

import torch.nn.functional as F
from torch import Tensor, nn

from ..structure.chart import pack
from .biaffine import Biaffine, LabelFactors, label_product
from .dropout import FeatureDropout
from .settings import Settings


@dataclass(frozen=True)
class BiaffineSpanSettings(Settings):
    """Biaffine scores of spans and, in a second stage, of labels (`spacy-lal.BiaffineSpans.v1`).

    The default widths are those of Zhang et al. 2020, section 3.3; Vu-Tran et al. have 1024 and
    250. span_width, label_width: width of the perceptrons over fenceposts. label_rank: number of
    rank-one matrices that the labels share, instead of a full matrix for each.
    """

    name: ClassVar[str] = "spacy-lal.BiaffineSpans.v1"
    span_width: int = 500
    label_width: int = 100
    label_rank: int | None = None

    def build(self, d_in: int) -> nn.Module:
        return BiaffineSpans(self, d_in)


class SpanViews(nn.Module):
    """A fencepost as a span's left and as its right end: for each end, LeakyReLU(W x + b)."""

    def __init__(self, d_in: int, d_out: int) -> None:
        super().__init__()
        self.left = nn.Linear(d_in, d_out)
        self.right = nn.Linear(d_in, d_out)
        for view in (self.left, self.right):
            nn.init.orthogonal_(view.weight)
            nn.init.zeros_(view.bias)
        self.dropout = FeatureDropout()

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        left, right = (self.dropout(F.leaky_relu(view(x), 0.1)) for view in (self.left, self.right))
        return left, right


class BiaffineLabels(nn.Module):
    """Factors of label scores s(i,j) = [l_i;1]^T W [r_j;1] of fenceposts [B,n+1,d_in] (Zhang et al.
    2020, section 3.3; Vu-Tran et al., eq. 19)."""

    def __init__(self, settings: BiaffineSpanSettings, d_in: int, n_labels: int) -> None:
        super().__init__()
        width = settings.label_width
        self.views = SpanViews(d_in, width)
        self.product = label_product(width, width, n_labels, settings.label_rank)

    def forward(self, fenceposts: Tensor) -> LabelFactors:
        return self.product.factors(*self.views(fenceposts))


class BiaffineSpans(nn.Module):
    """s(i,j) = [l_i;1]^T W [r_j;1] (Zhang et al. 2020, section 3.3; Vu-Tran et al., eq. 18).

    fenceposts [B,n+1,d_in] -> scores [B,S] of the spans, packed by width; `lengths` [B] are unused.
    W begins as zero, so all trees are equally probable at first.
    """

    def __init__(self, settings: BiaffineSpanSettings, d_in: int) -> None:
        super().__init__()
        width = settings.span_width
        self.views = SpanViews(d_in, width)
        self.product = Biaffine(width, width)
        for weight in (self.product.bilinear, self.product.left, self.product.right):
            nn.init.zeros_(weight)

    def forward(self, fenceposts: Tensor, lengths: Tensor) -> Tensor:
        return pack(self.product(*self.views(fenceposts)).squeeze(-1))
