"""How each library does the work, one file a library; imported where it is run."""
