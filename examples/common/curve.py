"""Draws the learning curve of a run."""


def draw(path, title, curves, levels=None):
    """Write a picture of `curves` (label to [(step, value), ...]) to `path`.

    `levels` (label to value) are horizontal lines. False where Matplotlib is not installed.
    """
    try:
        import matplotlib
    except ImportError:
        print(f"no {path}: that needs Matplotlib (pip install matplotlib)")
        return False
    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 4), layout="constrained")
    for label, points in curves.items():
        marker = "o" if len(points) < 30 else ""
        axes.plot(*zip(*points), label=label, marker=marker, markersize=3)
    for label, value in (levels or {}).items():
        axes.axhline(value, label=f"{label} ({value:.3f})", color="gray", linestyle="--")
    axes.set(title=title, xlabel="step", ylabel="loss")
    axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig(path, dpi=120)
    pyplot.close(figure)
    return True
