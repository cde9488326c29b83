"""Sound."""

from __future__ import annotations

import io
import sys
import wave
from typing import Any

import numpy as np

from ._convert_np import make_np
from ._messages import Summary


def sound_of(tensor: Any, sample_rate: int) -> Any:
    """The message of one channel of sound, from -1 to 1, as a WAV file of 16 bits.

    Raises:
        AssertionError: for more than one dimension that is longer than 1.
    """
    array = make_np(tensor).squeeze()
    if abs(array).max() > 1:
        print("warning: audio amplitude out of range, auto clipped.", file=sys.stdout)
        array = array.clip(-1, 1)
    if array.ndim != 1:
        raise AssertionError("input tensor should be 1 dimensional.")
    samples = (array * np.iinfo(np.int16).max).astype("<i2")
    found = io.BytesIO()
    with wave.open(found, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(sample_rate)
        file.writeframes(samples.tobytes())
    return Summary.Audio(sample_rate=sample_rate, num_channels=1, length_frames=len(samples),
                         encoded_audio_string=found.getvalue(), content_type="audio/wav")
