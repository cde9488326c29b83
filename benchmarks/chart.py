"""The bar chart: each workload's times over PyTorch eager's."""

from .contenders import CONTENDERS, PYTORCH


def draw(results, path):
    """Draw to `path` if matplotlib is there; one sentence for the report either way."""
    try:
        import matplotlib
    except ImportError:
        return "No chart: it needs matplotlib (`pip install jaxflow[bench]`)."
    matplotlib.use("Agg")
    from matplotlib import pyplot

    shown = {name: found for name, found in results.items() if "median" in found.get(PYTORCH, {})}
    if not shown:
        return f"No chart: it shows times over {PYTORCH}'s, which did not take part."
    names = [name for name in CONTENDERS if any("median" in found.get(name, {}) for found in shown.values())]
    figure, axes = pyplot.subplots(figsize=(9, 1 + 0.14 * (len(names) + 1.5) * len(shown)))
    height = 1 / (len(names) + 1.5)
    for row, found in enumerate(shown.values()):
        unit = found[PYTORCH]["median"]
        for place, name in enumerate(names):
            measured = found.get(name, {})
            if "median" not in measured:
                continue
            ratio = measured["median"] / unit
            error = [[ratio - measured["low"] / unit], [measured["high"] / unit - ratio]]
            y = row + (place - (len(names) - 1) / 2) * height
            look = {"color": CONTENDERS[name].colour, "error_kw": {"elinewidth": 0.7, "alpha": 0.5}}
            axes.barh(y, ratio, height, xerr=error, **look)
            axes.text(ratio, y, f" {ratio:.2f}", va="center", fontsize=6)
    axes.axvline(1, color="black", linewidth=0.7)
    axes.set_xscale("log")
    axes.set_yticks(range(len(shown)), list(shown))
    axes.invert_yaxis()
    axes.set_xlabel(f"time over {PYTORCH}'s (shorter is faster)")
    handles = [pyplot.Rectangle((0, 0), 1, 1, color=CONTENDERS[name].colour) for name in names]
    axes.legend(handles, names, fontsize=7, loc="best")
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)
    pyplot.close(figure)
    return f"![Times over {PYTORCH}'s]({path.name})"
