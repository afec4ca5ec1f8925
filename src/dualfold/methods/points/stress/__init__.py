"""Points whose distances are nearest to given ones: least stress, metric and non-metric."""
