"""`python -m dualfold`: the command line where no script is on the path."""

from dualfold.cli import main

if __name__ == "__main__":
    main()
