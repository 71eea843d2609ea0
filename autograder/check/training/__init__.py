"""Chapter 7: what is checked of batches, schedule, decay, clipping, AdamW, a step, and evaluation."""

from autograder.check.training.batches import GET_BATCH
from autograder.check.training.clipping import CLIP_GRAD_NORM
from autograder.check.training.decay import DECAY_GROUPS
from autograder.check.training.evaluation import ESTIMATE_LOSS
from autograder.check.training.optimiser import ADAMW_STEP
from autograder.check.training.schedule import LR_SCHEDULE
from autograder.check.training.step import TRAIN_STEP

COMPONENTS = (
    GET_BATCH,
    LR_SCHEDULE,
    DECAY_GROUPS,
    CLIP_GRAD_NORM,
    ADAMW_STEP,
    TRAIN_STEP,
    ESTIMATE_LOSS,
)
