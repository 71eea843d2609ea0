"""Chapter 4: what is checked of splitting, merging, the layer, its heads' writes and ablation."""

from autograder.check.multi_head_attention.ablation import ABLATE_HEAD
from autograder.check.multi_head_attention.layer import MULTI_HEAD_ATTENTION
from autograder.check.multi_head_attention.splitting import MERGE_HEADS, SPLIT_HEADS
from autograder.check.multi_head_attention.writes import HEAD_WRITES

COMPONENTS = (SPLIT_HEADS, MERGE_HEADS, MULTI_HEAD_ATTENTION, HEAD_WRITES, ABLATE_HEAD)
