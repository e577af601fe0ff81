"""Training of the small drafters: text that the model writes itself, its hidden states, the heads, their acceptance."""
