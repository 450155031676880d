"""Semi-supervised learning: label propagation and spreading with a proved error, self-training with any classifier."""

from certifit.semi_supervised._labels import LabelPropagation, LabelSpreading
from certifit.semi_supervised._self_training import SelfTrainingClassifier

__all__ = ["LabelPropagation", "LabelSpreading", "SelfTrainingClassifier"]
