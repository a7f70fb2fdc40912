"""Draw the README's picture: the distribution of CCTs per scheduler, from a dataset with coflows.

python -m sweep scheduler=asebf,aalo,varys,fair output.coflows=true output.dir=outputs/picture
python docs/picture.py outputs/picture docs/cct.svg
"""

from __future__ import annotations

import sys

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np

from sweep import load

# Okabe-Ito: told apart by colour-blind readers.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7")


def main(directory: str, path: str) -> None:
    """Draw the CDF of CCT per scheduler."""
    mpl.rcParams["svg.hashsalt"] = "coflow-sweep"  # the same picture is the same file
    coflows = load(directory, coflows=True)
    figure, axes = plt.subplots(figsize=(7, 3.6), layout="constrained")
    for colour, (name, group) in zip(
        COLOURS, coflows.groupby("scheduler", sort=False), strict=False
    ):
        cct = np.sort(group["cct_s"].to_numpy())
        share = np.arange(1, len(cct) + 1) / len(cct)
        label = f"{name} (mean {cct.mean():.1f} s)"
        axes.step(cct, share, where="post", color=colour, label=label)
    axes.set(xscale="log", xlabel="coflow completion time [s]", ylabel="share of coflows")
    axes.set_ylim(0, 1)
    axes.grid(alpha=0.3, linewidth=0.5)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, loc="lower right")
    figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
