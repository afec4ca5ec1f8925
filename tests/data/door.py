"""Names inside the room of data that its tests need, each with its reason.

Everything else is tested by the public names of `dualfold.data`.
"""

from __future__ import annotations

# Scales of answers: no word has two places in one of them, and which words make a scale.
from dualfold.data.answer_scales import ANSWER_SCALES, ordered_answers, plain_words

# Folders of tables in tiles, which no public name writes.
from dualfold.data.atomic_files import atomic_folder, check_folder_place, folder_writers

# The example tables of the command line, by name and seed.
from dualfold.data.data_sets import EXAMPLE_TABLES, example_table
from dualfold.data.h5ad import h5ad_coordinates

# Shares of the variance and chances of tests are held to their formulas and to simulations.
from dualfold.data.heavy_tails import heavy_tails, min_tail_share, tail_share

# The model of missing values is held to the normal distribution.
from dualfold.data.imputation import Imputation, mean_imputation
from dualfold.data.imputation_fit import fitted_imputation
from dualfold.data.missing_patterns import level_chance, rank_chance

# The form of settings in files.
from dualfold.data.reading import reading_of
from dualfold.data.scales import column_limits, different_units

# Files that commands write.
from dualfold.data.table_writer import read_metadata, write_table

# Words of texts in scripts with and without blanks.
from dualfold.data.text.words import plain_text, words_in
