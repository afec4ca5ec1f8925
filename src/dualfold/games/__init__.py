"""First-order methods as two players of one game, with a duality gap at every round."""
from dualfold.games.convex import *
from dualfold.games.losses import *
from dualfold.games.sets import *
from dualfold.games.players import *
from dualfold.games.play import *
from dualfold.games.divergences import *
