"""First-order methods as two players of one game, with a duality gap at every round."""
