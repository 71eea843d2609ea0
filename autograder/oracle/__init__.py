"""Every component once more, for comparison: float64, in array-API style.

Each function takes NumPy arrays or torch tensors and returns the same kind: NumPy in float64 is
what answers are compared with; torch gives its gradients. A keyword with a default that is right
is a switch: its other values are known mistakes.
"""
