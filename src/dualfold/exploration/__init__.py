"""What `dualfold embed` does with a table, below the command line."""
