"""sentence-transformers over a small BERT: vectors, search, training with two losses, saved and loaded."""

import warnings

import torch
import transformers
from datasets import Dataset
from sentence_transformers import (
    SentenceTransformer,
    SentenceTransformerTrainer,
    SentenceTransformerTrainingArguments,
    losses,
    models,
    util,
)
from transformers_table import build
from transformers_words import tokenizer

warnings.filterwarnings("ignore")
transformers.logging.set_verbosity_error()
SENTENCES = ["a b c", "d e f g", "a b", "c a j i"]

build("bert", hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0).bert.save_pretrained("bert")
tokenizer().save_pretrained("bert")


def model(mode):
    parts = [models.Transformer("bert"), models.Pooling(32, pooling_mode=mode), models.Normalize()]
    return SentenceTransformer(modules=parts, device="cpu")


for mode in ("mean", "max", "cls"):
    vectors = model(mode).encode(SENTENCES, convert_to_tensor=True, show_progress_bar=False)
    print(mode, tuple(vectors.shape), [f"{x:.3f}" for x in util.cos_sim(vectors, vectors)[0].tolist()])
print([[hit["corpus_id"] for hit in hits] for hits in util.semantic_search(vectors[:2], vectors, top_k=2)])

# As many rows as a batch has: their order is drawn, and does not matter within a batch.
pairs = Dataset.from_dict({"anchor": ["a b", "c d", "e f", "g h"], "positive": ["a c", "c e", "e g", "g i"]})
scored = Dataset.from_dict({"first": ["a b", "c d"] * 2, "second": ["a c", "i j"] * 2,
                            "score": [0.9, 0.1, 0.5, 0.2]})
for rows, loss in ((pairs, losses.MultipleNegativesRankingLoss), (scored, losses.CosineSimilarityLoss)):
    net = model("mean")
    arguments = SentenceTransformerTrainingArguments(
        "out", max_steps=4, report_to=[], use_cpu=True, disable_tqdm=True, per_device_train_batch_size=4,
        logging_steps=1, learning_rate=1e-3, save_strategy="no")
    trainer = SentenceTransformerTrainer(net, arguments, train_dataset=rows, loss=loss(net))
    trainer.remove_callback(transformers.PrinterCallback)
    trainer.train()
    print(loss.__name__, [round(line["loss"], 3) for line in trainer.state.log_history if "loss" in line])
    net.save("saved")
    again = SentenceTransformer("saved", device="cpu").encode(SENTENCES, convert_to_tensor=True)
    print(torch.allclose(again, net.encode(SENTENCES, convert_to_tensor=True), atol=1e-4))
