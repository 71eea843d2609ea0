"""Checks, grades, assembles and trains what a student of The Transformer writes."""

__version__ = "0.1.0"
