"""Tasks from files or from a Hugging Face dataset: one prompt, one answer, one scorer.

The modules import each other in one direction: rows, hub, templates -> dataset
"""

from skillpipe.envs.dataset.dataset import Dataset

__all__ = ["Dataset"]
