"""The filters of ``skimage.filters`` that tilewright has: ``rank.entropy``."""

from . import rank

__all__ = ["rank"]
