"""From a typed prompt to token ids and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from gpu_demos.models import Loaded


def encode(loaded: Loaded, prompt: str, *, raw: bool = False) -> list[int]:
    """Token ids of a prompt: as a user's turn in the model's chat template, or `raw`, to be continued as it is.

    A tokenizer without a template gets the raw text. Raises ValueError for a prompt without any token.
    """
    if raw or not loaded.tokenizer.chat_template:
        ids = cast(list[int], loaded.tokenizer(prompt)["input_ids"])
    else:
        turn = [{"role": "user", "content": prompt}]
        text = cast(str, loaded.tokenizer.apply_chat_template(turn, tokenize=False, add_generation_prompt=True))
        ids = cast(list[int], loaded.tokenizer(text, add_special_tokens=False)["input_ids"])
    if not ids:
        raise ValueError(f"prompt={prompt!r} must give at least one token")
    return ids


def decode_text(loaded: Loaded, tokens: Sequence[int]) -> str:
    """The text of tokens, without those that only steer the chat."""
    return cast(str, loaded.tokenizer.decode(list(tokens), skip_special_tokens=True))


def end_tokens(loaded: Loaded) -> frozenset[int]:
    """Tokens that end a text, as the model's own generation settings say."""
    ends = loaded.model.generation_config.eos_token_id if loaded.model.generation_config else None
    if ends is None:
        return frozenset()
    return frozenset([ends] if isinstance(ends, int) else ends)
