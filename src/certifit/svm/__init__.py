"""Support vector machines: hard margin, soft margin, linear, stochastic; and the kernel perceptron."""

from certifit.svm._evidence import evidence_of, machine_evidence
from certifit.svm._svc import SVC

__all__ = ["SVC", "evidence_of", "machine_evidence"]
