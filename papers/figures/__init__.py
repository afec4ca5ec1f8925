"""Figures that only the papers need, made of the parts of `dualfold.view.drawing`."""
