"""Texts as rows of numbers: TF-IDF, then the certified `TruncatedSVD`, compared by cosine."""

from dualfold.data.text.text_vectors import TextVectors

__all__ = ["TextVectors"]
