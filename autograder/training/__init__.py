"""Training an assembled gpt2.py and letting it write: text, device, loop, checkpoints, samples.

from autograder.training.load import load_run
model, vocabulary = load_run("gpt2.py", "runs/tales")
"""

import os

# Before torch is loaded: threads that wait for each other then sleep instead of spinning. On an
# idle machine that costs next to nothing; on a busy one spinning made a step five times slower.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
