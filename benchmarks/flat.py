"""Does memory stay flat: live arrays and resident size of the demo's training over many steps."""

from . import report
from .contenders import CONTENDERS
from .suite import shapes_of
from .worker import Failed, Worker
from .workloads import WORKLOADS

WORKLOAD = WORKLOADS["gpt-demo"]


def main(quick=False, only=None):
    steps, every = (100, 20) if quick else (1000, 100)
    found, left_out = {}, []
    shapes = shapes_of(WORKLOAD, {})
    for name in [name for name in CONTENDERS if not only or name in only]:
        given = shapes if CONTENDERS[name].library == "jax" else None
        with Worker("benchmarks.session", name, CONTENDERS[name].environment()) as worker:
            try:
                worker.call("open", workload=WORKLOAD.name, shapes=given)
                found[name] = worker.call("do", method="flat", steps=steps, every=every)
            except Failed as error:
                left_out.append(f"{name} left out: {error.text}.")
    rows = []
    for name, seen in found.items():
        resident = [at["resident"] / 1e6 for at in seen]
        row = [seen[0]["arrays"], seen[-1]["arrays"], *(f"{r:.0f}" for r in (resident[0], resident[-1]))]
        rows.append([name, *row, f"{max(resident):.0f}"])
    headings = ["contender", "arrays, first", "last", "resident MB, first", "last", "highest"]
    text = f"Over {steps:,} training steps of the demo, looked at every {every}.\n\n"
    text += "\n\n".join([report.table(headings, rows), *left_out])
    return report.write("flat", "Memory over many steps", {"flat": found}, text)
