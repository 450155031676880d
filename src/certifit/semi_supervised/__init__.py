"""Few labels: labels that spread over a graph of rows, with a proved error, and self-training around any classifier."""

from certifit.semi_supervised._labels import LabelPropagation, LabelSpreading
from certifit.semi_supervised._self_training import SelfTrainingClassifier

__all__ = ["LabelPropagation", "LabelSpreading", "SelfTrainingClassifier"]
