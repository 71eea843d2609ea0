"""The file under test: builds its models, runs them once for all rows, and watches them inside."""

import functools
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import ModuleType

import numpy as np
import torch
from torch import Tensor, nn

from autograder import references
from autograder.conform.row import Skip, Unseen, Wrong
from autograder.references import Reference, Sizes

NAMED = "parameter names and shapes"  # the row on which all rows with given weights rest


@dataclass
class Watched:
    """What was seen of one forward pass from outside; empty lists where nothing could be seen."""

    logits: Tensor | None = None
    embedding: list[Tensor] = field(default_factory=list)  # one (B, T, d)
    blocks: list[Tensor] = field(default_factory=list)  # L of (B, T, d)
    final_norm: list[Tensor] = field(default_factory=list)  # one (B, T, d)
    attentions: list[Tensor] = field(default_factory=list)  # L of (B, H, T, T)


@dataclass
class Run:
    """A forward and a backward pass on one reference's batch."""

    watched: Watched
    loss: Tensor
    gradients: dict[str, Tensor]


class Subject:
    def __init__(self, module: ModuleType, device: str = "cpu"):
        self.module, self.device = module, torch.device(device)
        self.path = getattr(module, "__file__", None)
        self.results = {}

    def __getattr__(self, name: str):
        return getattr(self.module, name)  # generate, train_step, …

    def once(self, key, make):
        """The result of make(), kept for the other rows that need it."""
        if key not in self.results:
            self.results[key] = make()
        return self.results[key]

    def run(self, name: str, dtype=torch.float32) -> Run:
        """One reference's batch through the model and back."""
        return self.once((name, dtype), lambda: self._run(name, dtype))

    def config(self, sizes: Sizes, **changes):
        return self.module.GPT2Config(
            **{
                "vocab_size": sizes.V,
                "n_positions": sizes.n_positions,
                "n_layer": sizes.L,
                "n_head": sizes.H,
                "d_model": sizes.d,
                "tie_weights": sizes.tied,
                **changes,
            }
        )

    def fresh(self, config, seed: int = 0) -> nn.Module:
        """A new model on the CPU, seeded, in evaluation mode."""
        torch.manual_seed(seed)
        return self.module.GPT2(config).eval()

    def model(
        self, reference: Reference, dtype=torch.float32, parameters=None, **changes
    ) -> nn.Module:
        """A model with the reference's parameters (or those given), in evaluation mode."""
        self.need(dtype)
        model = self.fresh(self.config(reference.sizes, **changes)).to(self.device, dtype)
        put(model, reference.parameters if parameters is None else parameters)
        return model

    def need(self, dtype) -> None:
        if dtype == torch.float64 and self.device.type == "mps":
            raise Skip("mps has no float64")

    def ids(self, array: np.ndarray) -> Tensor:
        return torch.tensor(array, dtype=torch.int64, device=self.device)

    @torch.no_grad()
    def logits(self, model: nn.Module, ids: np.ndarray) -> np.ndarray:
        return model(self.ids(ids)).cpu().double().numpy()

    def _run(self, name: str, dtype) -> Run:
        reference = references.load(name)
        model = self.model(reference, dtype)
        ids, targets = self.ids(reference["ids"]), self.ids(reference["targets"])
        with self.watching(model) as watched, torch.no_grad():
            watched.logits = model(ids)
        loss = model.loss(ids, targets)
        loss.backward()
        gradients = {n: p.grad for n, p in model.named_parameters()}
        return Run(watched, loss.detach(), gradients)

    @contextmanager
    def watching(self, model: nn.Module):
        """Hooks on the blocks and ln_f, and a recorder around the file's own `attention`."""
        watched, hooks = Watched(), []
        blocks = [b for b in getattr(model, "blocks", []) if isinstance(b, nn.Module)]
        if blocks:
            keep_input = lambda _, args: watched.embedding.append(tensor_of(args))
            hooks.append(blocks[0].register_forward_pre_hook(keep_input))
        for block in blocks:
            hooks.append(block.register_forward_hook(keep_output(watched.blocks)))
        if isinstance(getattr(model, "ln_f", None), nn.Module):
            hooks.append(model.ln_f.register_forward_hook(keep_output(watched.final_norm)))
        own = getattr(self.module, "attention", None)
        if callable(own):
            self.module.attention = recorder(own, watched.attentions)
        try:
            yield watched
        finally:
            for hook in hooks:
                hook.remove()
            if callable(own):
                self.module.attention = own


def keep_output(seen: list):
    return lambda module, args, output: seen.append(tensor_of(output))


def tensor_of(value) -> Tensor | None:
    """A block may return (x, cache)."""
    first = value[0] if isinstance(value, tuple) and value else value
    return first.detach() if isinstance(first, Tensor) else None


def recorder(attention, seen: list):
    @functools.wraps(attention)
    def recorded(*args, **kwargs):
        result = attention(*args, **kwargs)
        if isinstance(result, tuple) and len(result) == 2 and isinstance(result[1], Tensor):
            seen.append(result[1].detach())
        return result

    return recorded


def put(model: nn.Module, parameters: dict[str, np.ndarray]) -> None:
    """Load given parameters; their names and shapes have a row of their own."""
    own = model.state_dict()
    fits = set(own) == set(parameters) and all(
        own[name].shape == array.shape for name, array in parameters.items()
    )
    if not fits:
        raise Skip(f"needs the row '{NAMED}'")
    model.load_state_dict({name: torch.tensor(array) for name, array in parameters.items()})


def attention_maps(watched: Watched, sizes: Sizes) -> np.ndarray:
    """The recorded weights as (L, B, H, T, T), also when `attention` ran once a head."""
    seen, shape = watched.attentions, (sizes.L, sizes.B, sizes.H, sizes.T, sizes.T)
    if not seen:
        raise Unseen("the model never calls this file's `attention`, or gets no weights from it")
    if len(seen) == sizes.L * sizes.H and seen[0].dim() == 3:
        stacks = [seen[i : i + sizes.H] for i in range(0, len(seen), sizes.H)]
        seen = [torch.stack(stack, dim=1) for stack in stacks]
    if len(seen) != sizes.L:
        raise Unseen(f"`attention` ran {len(seen)} times, not once for each of {sizes.L} layers")
    if any(A.shape != shape[1:] for A in seen):
        raise Wrong(f"attention weights have shape {tuple(seen[0].shape)}; expected {shape[1:]}")
    return torch.stack(seen).cpu().double().numpy()


def hidden_states(watched: Watched, sizes: Sizes) -> dict[str, Tensor]:
    """The stream before the first block, after each block, and after ln_f."""
    if len(watched.blocks) != sizes.L or None in watched.blocks:
        raise Unseen(f"`model.blocks` were called {len(watched.blocks)} times, not {sizes.L}")
    states = {"embedding": watched.embedding[0]}
    states |= {f"after block {i}": x for i, x in enumerate(watched.blocks)}
    if len(watched.final_norm) == 1:
        states["after ln_f"] = watched.final_norm[0]
    return states
