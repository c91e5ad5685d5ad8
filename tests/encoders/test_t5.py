"""T5 against Hugging Face's, with random weights."""

from __future__ import annotations

import pytest
import torch

from spacy_lal.published.benepar_network.network import Pretrained

transformers = pytest.importorskip("transformers", reason="pip install 'spacy-lal[encoders]'")


@pytest.mark.parametrize("feed_forward", ["relu", "gated-gelu"])
def test_states_are_those_of_the_decoder_over_the_shifted_text(feed_forward: str) -> None:
    torch.manual_seed(0)
    config = transformers.T5Config(
        **{"d_model": 16, "d_kv": 6, "d_ff": 24, "num_layers": 2, "num_decoder_layers": 3},
        **{"num_heads": 2, "vocab_size": 30, "feed_forward_proj": feed_forward},
        **{"relative_attention_num_buckets": 8, "relative_attention_max_distance": 20},
    )
    theirs = transformers.T5Model(config).eval()
    for parameter in theirs.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    ours = Pretrained(config.to_dict()).eval()
    state = {k: v for k, v in theirs.state_dict().items() if "embed_tokens" not in k}
    ours.transformer.model.load_state_dict(state)
    pieces = torch.randint(1, 30, (3, 40))
    mask = torch.ones_like(pieces)
    mask[1, 30:] = mask[2, 3:] = 0
    start = torch.zeros(3, 1, dtype=torch.long)
    there = torch.cat([mask[:, :1], mask], 1)
    with torch.no_grad():
        found = ours(pieces, mask, mask).view(3, 41, 16)
        wanted = theirs(
            input_ids=pieces,
            attention_mask=mask,
            decoder_input_ids=torch.cat([start, pieces], 1),
            decoder_attention_mask=there,
        ).last_hidden_state
    torch.testing.assert_close(found[there.bool()], wanted[there.bool()], rtol=0, atol=1e-5)
