"""An optimizer that is a model. The modules import each other in one direction:

cutting, reading -> showing, asking -> reflecting, joining, ranking -> optimizer
"""

from skillpipe.optimizers.model.optimizer import ModelOptimizer

__all__ = ["ModelOptimizer"]
