"""Kernel ridge regression, by a factorisation or by the kernel LMS rule."""

from certifit._passing import pass_on
from certifit.kernel_ridge._kernel_ridge import KernelRidge

__all__ = ["KernelRidge"]

__getattr__, __dir__ = pass_on(__name__, "sklearn.kernel_ridge")
