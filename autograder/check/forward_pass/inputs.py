"""GPT2: its sizes and values for the checks, how it is called, and what it should give."""

from __future__ import annotations

from dataclasses import replace

from autograder.check.parts import Fixture, Inputs
from autograder.check.draw import choice, normal
from autograder.check.feedforward_layernorm.blocks import parameters
from autograder.oracle import forward_pass as oracle
from autograder.probes import Call

# V, T_max, T, B, d, H, L: the sizes of tensors are all different but for d_k = 3 or 5, and V is
# less than T_max: so that a position looked up with an id is a wrong number, and not an IndexError
SIZES = (7, 9, 5, 2, 12, 4, 2), (8, 11, 6, 3, 10, 2, 2), (9, 10, 7, 2, 15, 5, 2)
LARGE = 20.0


def fixtures(rng):
    V, T_max, T, B, d, H, L = choice(rng, *SIZES)
    sizes = dict(vocab_size=V, n_positions=T_max, n_layer=L, n_head=H, d_model=d)

    def model(T=T, tied=False, L=L, quiet=False, loss=False):
        config = sizes | {"n_layer": L, "tie_weights": tied}
        state, ids = state_of(rng, config, quiet), rng.integers(0, V, (B, T))
        inputs = {"init": config, "state": state, "ids": ids}
        return inputs | {"targets": rng.integers(0, V, (B, T))} if loss else inputs

    return [
        Fixture("its parameters, tied", {"init": sizes | {"tie_weights": True}}, weight=1.0),
        Fixture("its parameters, untied", {"init": sizes | {"tie_weights": False}}, weight=1.0),
        Fixture("blocks that write nothing", model(quiet=True), weight=1.0),
        Fixture(
            "more blocks, and as many tokens as n_positions", model(T_max, L=L + 1), weight=1.0
        ),
        Fixture("one block", model(L=1), weight=1.0),
        Fixture("tied", model(tied=True), weight=2.0),
        Fixture("its loss", model(loss=True), weight=2.0),
        Fixture("untied", model(), weight=2.0),
    ]


def state_of(rng, config, quiet=False):
    """Values for all parameters. quiet: blocks whose writes are 0, and a stream so large that a
    factor on it is lost in ln_f."""
    d = config["d_model"]
    state = {n: normal(rng, *s, std=0.5) for n, s in oracle.shapes(config).items()}
    for i in range(config["n_layer"]):
        state |= {f"blocks.{i}.{k}": v for k, v in parameters(rng, d).items()}
    if quiet:
        state |= {n: LARGE * state[n] for n in ("E", "P")}
    state["ln_f.gamma"] = normal(rng, d, std=0.3, mean=1.0)
    writes = ("W_O", "b_O", "W_down", "b_down")
    return {n: v * (not (quiet and n.endswith(writes))) for n, v in state.items()}


def whole(
    init, state=None, ids=None, targets=None, *, shapes=oracle.shapes, read=None, loss=None, **parts
):
    """What the model gives: without a state, the shapes of its parameters; with targets, the loss.

    shapes  config -> the parameters it has; a state with others cannot be put into it
    read    logits -> what is made of them
    """
    own = {name: str(shape) for name, shape in shapes(init).items()}
    if state is None:
        return {"the state_dict": own}
    if own != {name: str(tuple(value.shape)) for name, value in state.items()}:
        raise ValueError("it has other parameters")
    logits = oracle.gpt2(ids, state, init["n_head"], **parts)
    logits = logits if read is None else read(logits)
    if targets is None:
        return logits
    if logits.shape[:-1] != targets.shape:
        raise ValueError("not a row of logits for each target")
    return (loss or oracle.cross_entropy)(logits, targets)


def call(inputs: Inputs) -> Call:
    """Without a state, its parameters are looked at; with targets, its loss."""
    made = Call(init=(), init_kwargs=inputs["init"], state=inputs.get("state"))
    if made.state is None:
        return replace(made, probe="forward_pass:parameters")
    if "targets" in inputs:
        args = inputs["ids"], inputs["targets"]
        return replace(made, args=args, probe="forward_pass:loss")
    return replace(made, args=(inputs["ids"],), probe="forward_pass:logits")
