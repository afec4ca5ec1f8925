"""Texts as rows of numbers: TF-IDF, then the certified `TruncatedSVD`, compared by cosine."""

from dualfold.data.text import *  # noqa: F403
from dualfold.data.text import __all__ as __all__
