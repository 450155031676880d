"""Kernel ridge regression, by a factorisation or by the notes' kernel LMS."""

from certifit.kernel_ridge._kernel_ridge import KernelRidge

__all__ = ["KernelRidge"]
