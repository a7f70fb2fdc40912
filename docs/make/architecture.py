"""Draw docs/architecture.svg: three journeys through the folders, file by file.

python docs/make/architecture.py
"""

from __future__ import annotations

from html import escape
from pathlib import Path

PATH = Path(__file__).parents[1] / "architecture.svg"
JOURNEYS = (
    ("a word", "queue.base=2,4 → queue_base", "#2a6f97"),
    ("a byte", "a flow's size → cct_s", "#b5651d"),
    ("a sampling rate", "shuffle.sampling_rate → fos_records", "#5b7f2b"),
)
ROOMS: tuple[tuple[str, str, tuple[str, str, str]], ...] = (
    ("sweep/cli", "words → a request", ("overrides.py request.py", "", "overrides.py request.py")),
    (
        "sweep/grid",
        "a request → points",
        (
            "grid.py combinations.py resolve.py point.py",
            "",
            "grid.py combinations.py resolve.py point.py",
        ),
    ),
    ("sweep/execution", "points → results", ("chunks.py worker.py", "worker.py", "worker.py")),
    (
        "core/shuffle",
        "records → buckets",
        ("", "", "sources.py sampling.py placement.py measure.py"),
    ),
    ("core/workloads", "values → a trace", ("", "_format.py", "_jobs.py")),
    (
        "core/fluid",
        "a trace → finish times",
        ("runner.py", "demand.py view.py state.py kernels", ""),
    ),
    ("core", "finish times → columns", ("", "outcome.py metrics.py", "metrics.py")),
    ("sweep/store", "rows → Parquet", ("tables.py writer.py",) * 3),
)
LEFT, LANE, TOP, LINE = 190, 250, 62, 17


def files() -> list[str]:
    """Return every file that the picture names."""
    return [f"{room}/{file}" for room, _, cells in ROOMS for c in cells for file in c.split()]


def picture() -> str:
    """Return the picture as SVG."""
    heights = [max(2, *(len(c.split()) for c in cells)) * LINE + 18 for _, _, cells in ROOMS]
    width, height = LEFT + LANE * len(JOURNEYS), TOP + sum(heights) + 12
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        'font-family="sans-serif" font-size="13">',
        "<title>The way of a word, a byte and a sampling rate through the code</title>",
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
    ]
    for lane, (name, journey, colour) in enumerate(JOURNEYS):
        x = LEFT + LANE * lane + 20
        parts += [_text(x, 22, name, colour, "bold"), _text(x, 42, journey, colour)]
    y = TOP
    ends: list[int] = [0] * len(JOURNEYS)
    boxes, lines = [], []
    for number, ((room, purpose, cells), size) in enumerate(zip(ROOMS, heights, strict=True)):
        shade = "#f3f3f3" if number % 2 == 0 else "#ffffff"
        boxes.append(f'<rect y="{y}" width="{width}" height="{size}" fill="{shade}"/>')
        boxes += [_text(12, y + 22, room, "#222222", "bold"), _text(12, y + 40, purpose, "#555555")]
        for lane, cell in enumerate(cells):
            names, colour, x = cell.split(), JOURNEYS[lane][2], LEFT + LANE * lane + 8
            if not names:
                continue
            top, bottom = y + 12, y + 16 + LINE * len(names)
            if ends[lane]:
                lines.append(_line(x, ends[lane], top, colour, "1.2"))
            lines.append(_line(x, top, bottom, colour, "5"))
            ends[lane] = bottom
            boxes += [
                _text(x + 12, y + 25 + LINE * k, file, "#222222") for k, file in enumerate(names)
            ]
        y += size
    return "\n".join([*parts, *boxes, *lines, "</svg>"]) + "\n"


def _text(x: int, y: int, text: str, colour: str, weight: str = "normal") -> str:
    return f'<text x="{x}" y="{y}" fill="{colour}" font-weight="{weight}">{escape(text)}</text>'


def _line(x: int, y: int, end: int, colour: str, width: str) -> str:
    return f'<path d="M{x} {y}V{end}" stroke="{colour}" stroke-width="{width}"/>'


if __name__ == "__main__":
    PATH.write_text(picture(), encoding="utf-8")
