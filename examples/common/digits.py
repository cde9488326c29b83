"""The handwritten digits that come with scikit-learn: 1,797 images of 8 x 8 pixels, no download."""

import sys


def load(test_share=0.2, seed=0):
    """NumPy arrays: training images, test images, training labels, test labels.

    Images are N x 8 x 8 float32 in [0, 1], labels N int64.
    """
    try:
        from sklearn.datasets import load_digits
        from sklearn.model_selection import train_test_split
    except ImportError:
        sys.exit("this example's data comes with scikit-learn: pip install scikit-learn")
    digits = load_digits()
    images = (digits.images / 16).astype("float32")
    labels = digits.target.astype("int64")
    return train_test_split(
        images, labels, test_size=test_share, random_state=seed, stratify=labels
    )
