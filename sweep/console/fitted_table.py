"""A table that fits itself to the console, whatever its cells hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich import box
from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from sweep.plain_text import plain_text


@dataclass(frozen=True)
class Column:
    """A column as it is printed: cells are plain text, never markup."""

    header: str
    cells: Sequence[str]
    number: bool = True


@dataclass(frozen=True)
class FittedTable:
    """A table with lines of text above and below it; fits itself to the console.

    A terminal that is too narrow gets fewer columns, those of `dropped_first` going first, and
    then text that folds; numbers never fold. Where there is no terminal every column is printed
    and nothing folds.
    """

    above: Sequence[str]
    columns: Sequence[Column]
    below: Sequence[str] = ()
    dropped_first: Sequence[Sequence[str]] = ()
    rule_after: int | None = None
    """Line after which a rule is drawn."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        limit = options.max_width if console.is_terminal else None
        wide = options.update(max_width=100_000, no_wrap=True, overflow="ignore")
        table, left_out = self._fitted(console, wide, limit)
        lines = [*self.below]
        if left_out:
            lines.append(f"left out on this narrow terminal: {' '.join(left_out)}")
        for text in self.above:
            yield from console.render(_text(text, console), options if limit else wide)
        if self.columns and self.columns[0].cells:
            natural = Measurement.get(console, wide, table).maximum
            width = natural if limit is None else min(natural, limit)
            yield from console.render(table, options.update(max_width=width))
        for text in lines:
            yield from console.render(_text(text, console), options if limit else wide)

    def _fitted(
        self, console: Console, wide: ConsoleOptions, limit: int | None
    ) -> tuple[Table, list[str]]:
        """Return the table with as many columns as fit, and the headers of the others."""
        left_out: list[str] = []
        rest = [*self.dropped_first]
        while True:
            shown = [c for c in self.columns if c.header not in left_out]
            table = self._table(shown, console)
            if limit is None or not rest or Measurement.get(console, wide, table).maximum <= limit:
                return table, left_out
            here = {c.header for c in shown}
            left_out += [header for header in rest.pop(0) if header in here]

    def _table(self, columns: Sequence[Column], console: Console) -> Table:
        table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
        for column in columns:
            table.add_column(
                _text(column.header, console),
                justify="right" if column.number else "left",
                no_wrap=column.number,
                min_width=_width(column, console, 1000 if column.number else 9),
                overflow="fold",
            )
        for k, cells in enumerate(zip(*(c.cells for c in columns), strict=True)):
            row = [_text(cell, console) for cell in cells]
            table.add_row(*row, end_section=k + 1 == self.rule_after)
        return table


def _width(column: Column, console: Console, most: int) -> int:
    cells = (column.header, *column.cells)
    return min(most, max(_text(cell, console).cell_len for cell in cells))


def _text(text: str, console: Console) -> Text:
    """Return text as it is, without markup, in characters that the console can print."""
    text = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)
    return Text(plain_text(text, console.encoding))
