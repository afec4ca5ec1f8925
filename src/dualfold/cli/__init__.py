"""The command line; `main` is what the `dualfold` command runs."""

from dualfold.cli.app import app, main

__all__ = ["app", "main"]
