"""
Does it work in a pipeline, with grid search?
=============================================

Every class is a scikit-learn estimator: it stands in a pipeline and its parameters are searched.

**In short:** yes, and the fitted step keeps its certificate.
"""

import matplotlib.pyplot as plt
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from dualfold import PCA
from dualfold.data import digits

images = digits()
steps = make_pipeline(StandardScaler(), PCA(), KNeighborsClassifier(5))
search = GridSearchCV(steps, {"pca__n_components": [2, 4, 8, 16, 32]}, cv=4)
search.fit(images.points, images.labels)
print(search.best_params_, search.best_estimator_["pca"].certificate_)

figure, axis = plt.subplots(figsize=(6, 4), layout="constrained")
counts = search.cv_results_["param_pca__n_components"].astype(int)
axis.errorbar(
    counts, search.cv_results_["mean_test_score"], search.cv_results_["std_test_score"], marker="o"
)
axis.set(xlabel="components", ylabel="accuracy, held out", xscale="log", xticks=counts)
axis.set_xticklabels(counts)
axis.minorticks_off()
plt.show()
