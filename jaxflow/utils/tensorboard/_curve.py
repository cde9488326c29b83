"""Precision and recall over thresholds."""

from __future__ import annotations

import numpy as np


def compute_curve(labels: np.ndarray, predictions: np.ndarray, num_thresholds: int | None = None,
                  weights: np.ndarray | float | None = None) -> np.ndarray:
    """What a classifier gets right and wrong at thresholds from 0 to 1, evenly spaced.

    Precision is ``tp / (tp + fp)`` and recall ``tp / (tp + fn)``. A prediction counts as positive at all
    thresholds up to it, so the counts are sums from behind of a histogram of the predictions.

    Args:
        labels: 0 or 1 for each example.
        predictions: from 0 to 1 for each example.
        num_thresholds: the number of thresholds.
        weights: of the examples; None for 1.

    Returns:
        An array ``(6, num_thresholds)``: true and false positives, true and false negatives, precision,
        recall.
    """
    places = np.floor(predictions * (num_thresholds - 1)).astype(np.int32)
    labels = labels.astype(np.float64)
    weights = 1.0 if weights is None else weights

    def from_behind(each: np.ndarray) -> np.ndarray:
        counts, _ = np.histogram(places, bins=num_thresholds, range=(0, num_thresholds - 1), weights=each)
        return counts[::-1].cumsum()[::-1]

    tp, fp = from_behind(labels * weights), from_behind((1.0 - labels) * weights)
    fn, tn = tp[0] - tp, fp[0] - fp
    least = 1e-7  # instead of a division by zero
    return np.stack((tp, fp, tn, fn, tp / np.maximum(least, tp + fp), tp / np.maximum(least, tp + fn)))
