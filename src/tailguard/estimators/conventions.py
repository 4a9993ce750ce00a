"""Where the estimators leave scikit-learn's conventions, and why."""

__all__ = ["EXCEPTIONS"]

EXCEPTIONS: dict[str, str] = {
    "check_supervised_y_no_nan": (
        "An error about a NaN or an infinity in y would tell of a value; such a record contributes nothing instead."
    ),
    "check_dtype_object": (
        "An error about a Python object that is no number would tell that some record holds one; it is NaN instead."
    ),
    "check_classifiers_classes": (
        "Labels read from the data would leak rare ones; the classes are a public parameter."
    ),
    "check_classifiers_regression_target": (
        "An error about labels that look continuous would tell of values; labels outside the public classes contribute "
        "nothing."
    ),
    "check_classifier_not_supporting_multiclass": (
        "An error about a third label would tell that it occurs; labels outside the public classes contribute nothing."
    ),
    "check_classifiers_train": (
        "With three public classes a model of data in which two of them occur has scores for all three; which ones "
        "occur is not looked up."
    ),
    "check_decision_proba_consistency": (
        "The same: the check brings two classes and expects a single column of scores, whatever `classes` says."
    ),
    "check_estimator_sparse_array": "The same: the check brings four classes and expects as many probabilities.",
    "check_estimator_sparse_matrix": "The same: the check brings four classes and expects as many probabilities.",
}
"""Checks of `sklearn.utils.estimator_checks.check_estimator` that must fail, each with its reason.

Pass it as `expected_failed_checks`; the last four concern more than two classes. All other checks pass with a budget
that carries their tiny data sets, for instance
``epsilon=1e6``; at ordinary budgets `fit` refuses so few rows before it looks at them.
"""
