"""How a method is fitted: one pipeline of functions, and scikit-learn's face of it.

`graph_fit.fit_graph_method` is the way of every method of a neighbour graph, from rows to certified
points; `linear` and `projection` are that of linear maps; `estimator` has what all of them share.
"""
