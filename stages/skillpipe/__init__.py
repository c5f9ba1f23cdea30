"""skillpipe trains an agent's skill the way a model is trained, while the model that reads it stays frozen."""
