"""Chapter 5."""

from variants.feedforward_layernorm import activations, blocks, networks, norms

MODULES = (activations, networks, norms, blocks)
RIGHT = {name: made for module in MODULES for name, made in module.RIGHT.items()}
WRONG = {name: made for module in MODULES for name, made in module.WRONG.items()}
