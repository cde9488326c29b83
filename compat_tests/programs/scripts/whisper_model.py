"""openai/whisper: spectrograms, losses of steps, and what a small model with NumPy's weights decodes."""

import numpy as np
import torch
import whisper
from fixed import fill, integers

sound = np.random.RandomState(5).standard_normal(3 * 16000).astype(np.float32) / 10
mel = whisper.log_mel_spectrogram(whisper.pad_or_trim(sound))
print(tuple(mel.shape), f"{mel.mean().item():.4f} {mel.std().item():.4f}")

net = whisper.Whisper(whisper.ModelDimensions(
    n_mels=80, n_audio_ctx=1500, n_audio_state=32, n_audio_head=2, n_audio_layer=1,
    n_vocab=51865, n_text_ctx=64, n_text_state=32, n_text_head=2, n_text_layer=2))
fill(net)
optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
tokens = integers(51865, 2, 12)
for _ in range(3):
    logits = net(mel.expand(2, -1, -1), tokens[:, :-1])
    loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"{loss.item():.4f}")

net.eval()
print(net.detect_language(mel)[0].item())
for options in ({}, {"beam_size": 3}, {"without_timestamps": True}):
    found = net.decode(mel, whisper.DecodingOptions(language="en", fp16=False, sample_len=6, **options))
    print(found.tokens, f"{found.avg_logprob:.3f} {found.no_speech_prob:.6f}")
said = net.transcribe(sound, language="en", fp16=False, temperature=0.0, sample_len=6, word_timestamps=True,
                      no_speech_threshold=None, logprob_threshold=None)
for part in said["segments"]:
    print(part["tokens"], f"{part['start']:.2f} {part['end']:.2f}", len(part["words"]))
