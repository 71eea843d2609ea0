"""Make the stored references with Hugging Face transformers: python -m autograder.references.make

A development tool: `pip install -r requirements-dev.txt` first. The same seeds give the same arrays
up to rounding. Takes some seconds.
"""

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path

import numpy as np
import torch
from torch.nn.functional import cross_entropy

from autograder.references import FOLDER, Sizes

try:
    import transformers
except ImportError:
    transformers = None

STEPS = 10
PROMPT = 3  # tokens given to the greedy continuation
# Seeds whose greedy continuation is decided by a clear margin and is not one token over and over.
SEEDS = {"short": 108, "full": 14, "deep": 78, "quiet": 111}
SIZES = {
    "short": Sizes(B=5, T=7, V=29, n_positions=11, d=12, H=3, L=2, tied=True),
    "full": Sizes(B=2, T=9, V=37, n_positions=9, d=20, H=4, L=3, tied=True),
    "deep": Sizes(B=3, T=13, V=23, n_positions=13, d=8, H=4, L=6, tied=False),
    "quiet": Sizes(B=4, T=7, V=19, n_positions=10, d=6, H=2, L=5, tied=False),
}
# Decay and eps are far larger than in practice, so that ten steps show where they act.
OPTIMISERS = {
    "short": dict(lr=3e-3, betas=(0.9, 0.95), eps=1e-8, weight_decay=0.1, max_norm=1.0),
    "full": dict(lr=5e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=1.0, max_norm=1.0),
    "deep": dict(lr=3e-3, betas=(0.9, 0.95), eps=1e-3, weight_decay=2.0, max_norm=1.0),
    "quiet": dict(lr=1e-4, betas=(0.9, 0.95), eps=1e-8, weight_decay=0.1, max_norm=1.0),
}


def build(sizes: Sizes):
    """An untrained GPT2LMHeadModel of these sizes, no dropout, attention that shows its weights."""
    config = transformers.GPT2Config(
        vocab_size=sizes.V,
        n_positions=sizes.n_positions,
        n_embd=sizes.d,
        n_layer=sizes.L,
        n_head=sizes.H,
        resid_pdrop=0.0,
        embd_pdrop=0.0,
        attn_pdrop=0.0,
        bos_token_id=None,
        eos_token_id=None,
        tie_word_embeddings=sizes.tied,
        attn_implementation="eager",
    )
    return transformers.GPT2LMHeadModel(config).eval()


def draw(name: str, model, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Every tensor afresh: at the default initialisation whole classes of mistakes hide."""
    parameters = {}
    for key, tensor in model.named_parameters():
        gain = key.endswith("weight") and tensor.dim() == 1
        scale = rng.uniform(0.15, 0.3)
        parameters[key] = (gain + scale * rng.standard_normal(tuple(tensor.shape))).astype("f4")
    if name == "quiet":
        keep_quiet(parameters)
    return parameters


def keep_quiet(parameters: dict[str, np.ndarray]) -> None:
    """Hold the whole stream near a standard deviation of 1e-3, with one row exactly constant.

    Where eps stands in LayerNorm shows only on such rows.
    """
    for key, array in parameters.items():
        if "wte" in key or "wpe" in key or "c_proj" in key:
            array *= np.float32(0.004)
    parameters["transformer.wte.weight"][0] = 0.0005
    parameters["transformer.wpe.weight"][0] = 0.001


def put(model, parameters: dict[str, np.ndarray]) -> None:
    with torch.no_grad():
        for key, tensor in model.named_parameters():
            tensor.copy_(torch.from_numpy(parameters[key]))


def outputs(model, ids: torch.Tensor, targets: torch.Tensor) -> dict[str, np.ndarray]:
    """One pass forward and back. The last of hidden_states is after ln_f: blocks are hooked."""
    blocks = []
    hooks = [
        block.register_forward_hook(lambda *call: blocks.append(call[-1]))
        for block in model.transformer.h
    ]
    model.zero_grad()
    out = model(ids, output_hidden_states=True, output_attentions=True, use_cache=False)
    for hook in hooks:
        hook.remove()
    # transformers' own loss shifts the labels and casts to float32; ours come shifted
    loss = cross_entropy(out.logits.flatten(0, 1), targets.flatten())
    loss.backward()
    blocks = [block[0] if isinstance(block, tuple) else block for block in blocks]
    arrays = {
        "embedding": out.hidden_states[0],
        "blocks": torch.stack(blocks),
        "final_norm": out.hidden_states[-1],
        "attentions": torch.stack(out.attentions),
        "logits": out.logits,
        "loss": loss,
    }
    arrays |= {f"gradients/{key}": tensor.grad for key, tensor in model.named_parameters()}
    return {key: tensor.detach().numpy().copy() for key, tensor in arrays.items()}


def ten_steps(model, ids, targets, lr, betas, eps, weight_decay, max_norm) -> dict[str, np.ndarray]:
    """Losses, and gradient norms before clipping, of AdamW on one batch; matrices decay alone."""
    parameters = list(model.parameters())
    groups = [
        {"params": [p for p in parameters if p.dim() >= 2], "weight_decay": weight_decay},
        {"params": [p for p in parameters if p.dim() < 2], "weight_decay": 0.0},
    ]
    optimiser = torch.optim.AdamW(groups, lr=lr, betas=betas, eps=eps)
    losses, norms = [], []
    for _ in range(STEPS):
        optimiser.zero_grad()
        logits = model(ids, use_cache=False).logits
        loss = cross_entropy(logits.flatten(0, 1), targets.flatten())
        loss.backward()
        norms.append(torch.nn.utils.clip_grad_norm_(parameters, max_norm).item())
        losses.append(loss.item())
        optimiser.step()
    return {"step_losses": np.array(losses), "step_norms": np.array(norms)}


def greedy(model, ids: torch.Tensor, n_positions: int) -> tuple[np.ndarray, float]:
    """transformers' own greedy continuation, and the least lead of a chosen token over the next."""
    prompt = ids[:, :PROMPT]
    chosen = model.generate(
        prompt,
        attention_mask=torch.ones_like(prompt),
        do_sample=False,
        max_new_tokens=n_positions - PROMPT,
        pad_token_id=0,
    )
    with torch.no_grad():
        best = model(chosen).logits[:, PROMPT - 1 : -1].topk(2).values
    return chosen.numpy(), (best[..., 0] - best[..., 1]).min().item()


def make(name: str) -> tuple[dict[str, np.ndarray], dict]:
    """The arrays of one reference, and its entry in references.json."""
    sizes, optimiser, rng = SIZES[name], OPTIMISERS[name], np.random.default_rng(SEEDS[name])
    model = build(sizes)
    parameters = draw(name, model, rng)
    ids, targets = rng.integers(sizes.V, size=(2, sizes.B, sizes.T))
    ids[0, 0] = 0
    arrays = {f"parameters/{key}": array for key, array in parameters.items()}
    arrays |= {"ids": ids, "targets": targets}
    batch = torch.from_numpy(ids), torch.from_numpy(targets)
    for dtype in (torch.float32, torch.float64):
        model = build(sizes).to(dtype)
        put(model, parameters)
        if dtype == torch.float64:
            arrays["greedy"], margin = greedy(model, batch[0], sizes.n_positions)
        found = outputs(model, *batch) | ten_steps(model, *batch, **optimiser)
        label = str(dtype).removeprefix("torch.")
        arrays |= {f"{label}/{key}": array for key, array in found.items()}
    if margin < 1e-2:
        raise SystemExit(f"{name}: greedy margin {margin:.1e} is too small; take another seed")
    entry = {
        "seed": SEEDS[name],
        "sizes": asdict(sizes),
        "prompt": PROMPT,
        "greedy_margin": round(margin, 6),
        "optimiser": optimiser,
    }
    return arrays, entry


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m autograder.references.make", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--out", type=Path, default=FOLDER, help="folder to write to")
    args = parser.parse_args(argv)
    if transformers is None:
        print("transformers is needed: pip install -r requirements-dev.txt", file=sys.stderr)
        return 2
    transformers.logging.set_verbosity_error()
    args.out.mkdir(parents=True, exist_ok=True)
    versions = {lib.__name__: lib.__version__ for lib in (np, torch, transformers)}
    about = {"made_by": "python -m autograder.references.make", "versions": versions}
    about |= {"generator": "numpy.random.default_rng(seed), PCG64", "references": {}}
    for name in SIZES:
        arrays, about["references"][name] = make(name)
        path = args.out / f"{name}.npz"
        np.savez_compressed(path, **arrays)
        print(f"{path}: {len(arrays)} arrays, {path.stat().st_size / 1e3:.0f} kB")
    (args.out / "references.json").write_text(json.dumps(about, indent=2) + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
