"""What usually lies behind an exception: a hint for the errors that beginners meet."""

from __future__ import annotations

import re

from autograder.probes.call import Failure

RESHAPE = "A slice or a transpose is not contiguous, and x.view(...) may fail on it: use reshape."

# Type of the exception, a part of its message, and what to look at. {0}, {1} … are what the part's
# groups have matched.
HINTS = (
    ("NameError", r"name '(\w+)' is not defined", "Run the cell that defines or imports {0}."),
    (
        "UnboundLocalError",
        r"variable '(\w+)'",
        "{0} gets its value only on a path that was not taken here, or after it is used.",
    ),
    (
        "TypeError",
        r"unexpected keyword argument '(\w+)'",
        "Keep the signature of the exercise: the caller hands over {0} by that name.",
    ),
    (
        "TypeError",
        r"takes \d+ positional arguments? but \d+ (?:was|were) given|missing \d+ required",
        "Keep the signature of the exercise, with its arguments in the same order.",
    ),
    (
        "TypeError",
        r"'NoneType' object is not|unsupported operand type\(s\) for .*'NoneType'",
        "Something is None here: a function without a return, or an argument that may be None.",
    ),
    (
        "AttributeError",
        r"'NoneType' object has no attribute '(\w+)'",
        "Something is None here: a function without a return, or an argument that may be None.",
    ),
    (
        "AttributeError",
        r"cannot assign module before Module.__init__|cannot assign parameters before",
        "Call super().__init__() first in the constructor.",
    ),
    (
        "AttributeError",
        r"object has no attribute '(\w+)'",
        "Is self.{0} set in the constructor, and spelt the same?",
    ),
    ("RuntimeError", r"view size is not compatible", RESHAPE),
    (
        "RuntimeError",
        r"mat1 and mat2 shapes cannot be multiplied \(([\dx]+) and ([\dx]+)\)",
        "The inner sizes of {0} and {1} differ: print both shapes. Vectors are rows, x @ W.",
    ),
    (
        "RuntimeError",
        r"Expected size for first two dimensions of batch2 tensor|inconsistent tensor size|"
        r"both arguments to matmul|size mismatch",
        "The inner sizes of a product differ: print both shapes. Is a transpose missing or wrong?",
    ),
    (
        "RuntimeError",
        r"size of tensor a \((\d+)\) must match the size of tensor b \((\d+)\) at "
        r"(?:non-singleton dimension|dimension) (\d+)",
        "On axis {2} one has {0} entries and the other {1}. Is keepdim=True missing, or an axis "
        "moved?",
    ),
    (
        "RuntimeError",
        r"shape '\[([^\]]*)\]' is invalid for input of size (\d+)",
        "[{0}] does not multiply to {1}: which of the sizes do you take for another?",
    ),
    (
        "RuntimeError",
        r"expected .*same dtype|expected scalar type|expected m1 and m2 to have the same dtype",
        "Two tensors of different types meet: make new ones with dtype=x.dtype.",
    ),
    (
        "RuntimeError",
        r"leaf [Vv]ariable that requires grad.*in-place",
        "A leaf is changed in place while gradients are recorded. A step of training belongs under "
        "torch.no_grad(). In any other case make a new tensor: x = x + y rather than x += y.",
    ),
    (
        "RuntimeError",
        r"modified by an inplace operation",
        "A tensor that autograd still needs was changed in place: x = x + y rather than x += y.",
    ),
    (
        "RuntimeError",
        r"element 0 of tensors does not require grad",
        "The graph is cut before the loss: .detach(), .item(), .data or torch.no_grad().",
    ),
    (
        "RuntimeError",
        r"backward through the graph a second time",
        "The graph of an earlier call is still in use: what is kept between calls must be detached.",
    ),
    (
        "RuntimeError",
        r"[Oo]nly Tensors of floating point|only floating[- ]point",
        "An integer tensor has no gradient and no mean: convert it with .float() first.",
    ),
    (
        "IndexError",
        r"Dimension out of range \(expected to be in range of \[(-?\d+), (-?\d+)\], but got (-?\d+)",
        "The tensor has fewer axes here: count axes from the end, -1 and -2, not from the front.",
    ),
    (
        "IndexError",
        r"index out of range in self|index (-?\d+) is out of bounds|out of range",
        "An index lies outside of the table: which index is meant for which table?",
    ),
    (
        "ValueError",
        r"only one element tensors can be converted|not enough values to unpack|too many values",
        "The number of axes or values is another one here: count the axes from the end.",
    ),
    (
        "RuntimeError",
        r"Boolean value of Tensor with more than one",
        "`if` needs one value: use torch.where, or .any() and .all().",
    ),
    ("RecursionError", r"", "The function calls itself without an end."),
    ("ZeroDivisionError", r"", "A divisor is 0 here: is there a case of its own for it?"),
)


def hint(failure: Failure) -> str:
    """Where to look, or "" for an error that none of the hints is meant for."""
    for kind, part, said in HINTS:
        found = re.search(part, failure.message) if failure.is_a(kind) else None
        if found:
            return said.format(*(g or "" for g in found.groups()))
    return ""
