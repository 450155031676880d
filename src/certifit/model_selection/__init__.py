from certifit.model_selection._search import Search

__all__ = ["Search"]
