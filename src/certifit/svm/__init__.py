"""Support vector machines: hard margin, soft margin, regression, linear, stochastic; and the kernel perceptron."""

from certifit._passing import pass_on
from certifit.svm._evidence import evidence_of, machine_evidence
from certifit.svm._hard import HardMarginSVC
from certifit.svm._linear import LinearSVC, linear_evidence_of
from certifit.svm._linear_svr import LinearSVR
from certifit.svm._nu_svc import NuSVC
from certifit.svm._one_class import OneClassSVM
from certifit.svm._pegasos import PegasosSVC
from certifit.svm._perceptron import KernelPerceptron
from certifit.svm._svc import SVC
from certifit.svm._svr import SVR, NuSVR

__all__ = [
    "HardMarginSVC",
    "KernelPerceptron",
    "LinearSVC",
    "LinearSVR",
    "NuSVC",
    "NuSVR",
    "OneClassSVM",
    "PegasosSVC",
    "SVC",
    "SVR",
    "evidence_of",
    "linear_evidence_of",
    "machine_evidence",
]

__getattr__, __dir__ = pass_on(__name__, "sklearn.svm")
