"""An optimizer that is a model. The modules import each other in one direction:

cutting, asking -> reading, showing -> recalling, reflecting, joining, ranking, rewriting, comparing -> optimizer
"""

from skillpipe.optimizers.model.optimizer import ModelOptimizer

__all__ = ["ModelOptimizer"]
