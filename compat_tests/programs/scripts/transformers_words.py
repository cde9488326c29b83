"""A tokenizer of a few words, made here."""

import transformers
from tokenizers import Tokenizer, models, pre_tokenizers

SPECIAL = {"pad_token": "[PAD]", "bos_token": "[BOS]", "eos_token": "[EOS]", "unk_token": "[UNK]",
           "mask_token": "[MASK]"}


def tokenizer():
    """Single letters from a to j, and PyTorch's usual special tokens."""
    words = {word: k for k, word in enumerate([*SPECIAL.values(), *"abcdefghij"])}
    made = Tokenizer(models.WordLevel(words, unk_token="[UNK]"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    return transformers.PreTrainedTokenizerFast(tokenizer_object=made, **SPECIAL)
