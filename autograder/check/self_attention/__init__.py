"""Chapter 3: what is checked of softmax, mask, attention, head and score variance."""

from autograder.check.self_attention.attention import ATTENTION
from autograder.check.self_attention.head import ATTENTION_HEAD
from autograder.check.self_attention.mask import CAUSAL_MASK
from autograder.check.self_attention.softmax import SOFTMAX
from autograder.check.self_attention.variance import SCORE_VARIANCE

COMPONENTS = (SOFTMAX, CAUSAL_MASK, ATTENTION, ATTENTION_HEAD, SCORE_VARIANCE)
