"""x"""
from dualfold.quality.distortion import Distortion, measured_distortion
from dualfold.quality.neighbors import *
from dualfold.quality.pairs import *
from dualfold.quality.nonmetric import nonmetric_stress
from dualfold.quality.shepard import shepard, Shepard
