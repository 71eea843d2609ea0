"""gpt2.js: every stage of the forward pass is PyTorch's."""

import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention
from torch_says import T_MAX, forward, texts_of

from autograder import example
from autograder.standins.architecture import GPT2Config
from autograder.standins.forward_pass import GPT2

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("interactives")]

EXACT = dict(rtol=0, atol=1e-9)


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("length", range(1, T_MAX + 1))
def test_every_stage_of_the_forward_pass_is_torchs(gpt2, length, causal):
    texts = texts_of(length)
    for ids, found in zip(texts, gpt2(texts, causal=causal)):
        expected = forward(ids, causal)
        assert set(found) == set(expected)
        for name, want in expected.items():
            got = torch.tensor(found[name], dtype=torch.float64)
            torch.testing.assert_close(got, want, msg=lambda m: f"{name}: {m}", **EXACT)
        q, k, v = (torch.tensor(found[f"{n}_0"], dtype=torch.float64) for n in "QKV")
        mixed = scaled_dot_product_attention(q, k, v, is_causal=causal)
        heads_0 = torch.tensor(found["heads_0"], dtype=torch.float64)
        torch.testing.assert_close(heads_0, mixed, **EXACT)


def test_the_logits_are_those_of_the_model_and_of_the_book(gpt2):
    model = GPT2(GPT2Config(**example.config))
    model.load_state_dict(example.weights)
    texts = [ids for length in range(1, T_MAX + 1) for ids in texts_of(length)[:5]]
    for ids, found in zip(texts, gpt2(texts)):
        got = torch.tensor(found["logits"])
        torch.testing.assert_close(got, model(torch.tensor(ids)[None])[0], rtol=1e-6, atol=1e-5)
        told = example.stages([example.words[i] for i in ids])
        for name, want in told.items():
            got = torch.tensor(found[name], dtype=torch.float32)
            torch.testing.assert_close(got, want, rtol=1e-6, atol=1e-5)
