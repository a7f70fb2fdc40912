"use strict";
// Heat maps over any two axes of the grid: what is fixed is looked up, what is not is averaged.

const TIE = 1e-9; // means that differ by less, as a ratio, are the same

class Explorer {
  constructor(figure) {
    this.start = figure;
    this.wins = figure.chart.explore === "wins";
    const at = (column) => DATA.cube.axes.findIndex((axis) => axis.column === column);
    this.x = at(figure.chart.x[0].column);
    this.y = at(figure.chart.y[0].column);
    this.who = this.wins ? at(figure.chart.colour_axis) : -1;
    this.metric = 0;
    this.fixed = new Map(Object.entries(figure.chart.fixed).map(([column, value]) => {
      const axis = at(column);
      return [axis, DATA.cube.axes[axis].values.map(shown).indexOf(value)];
    }));
  }

  controls(place, draw) {
    const { axes, metrics } = DATA.cube, names = axes.map((a) => a.title);
    const rest = element("span", { className: "controls" });
    const renew = () => {
      rest.replaceChildren();
      axes.forEach((axis, k) => {
        if ([this.x, this.y, this.who].includes(k)) { this.fixed.delete(k); return; }
        const select = control(rest, axis.title, ["mean over all", ...axis.values.map(shown)], (choice) => {
          if (choice === 0) this.fixed.delete(k); else this.fixed.set(k, choice - 1);
          draw();
        });
        select.value = this.fixed.has(k) ? this.fixed.get(k) + 1 : 0;
      });
    };
    const choose = (label, key) => {
      const select = control(place, label, names, (k) => {
        const other = ["x", "y", "who"].find((name) => name !== key && this[name] === k);
        if (other) { this[other] = this[key]; selects[other].value = this[key]; } // they change places
        this[key] = k;
        renew();
        draw();
      });
      select.value = this[key];
      return select;
    };
    const selects = { x: choose("x axis", "x"), y: choose("y axis", "y") };
    if (this.wins) selects.who = choose("who wins", "who");
    if (metrics.length > 1) control(place, "metric", metrics.map((m) => m.title), (k) => { this.metric = k; draw(); });
    place.append(rest);
    renew();
  }

  means(keys) {
    // Means of the metric over grid rows, by the codes of these axes.
    const { axes, setting, rows, weights } = DATA.cube, metric = DATA.cube.metrics[this.metric];
    const values = DATA.cube.values[metric.column], found = new Map();
    const fixed = [...this.fixed].map(([k, code]) => [axes[k].codes, code]);
    for (let i = 0; i < rows; i++) {
      const value = values[setting[i]];
      if (value === null || !fixed.every(([codes, code]) => codes[i] === code)) continue;
      const key = keys.map((k) => axes[k].codes[i]).join();
      const cell = found.get(key) || { sum: 0, n: 0 };
      cell.sum += value * weights[i];
      cell.n += weights[i];
      found.set(key, cell);
    }
    return new Map([...found].map(([key, { sum, n }]) => [key, sum / n]));
  }

  get view() {
    const { axes, metrics } = DATA.cube, metric = metrics[this.metric];
    const axisOf = (k) => ({ column: axes[k].column, title: axes[k].with_unit });
    return { x: axisOf(this.x), y: axisOf(this.y), z: metric };
  }

  figure() {
    const { axes } = DATA.cube, { x, y, z } = this.view;
    const data = { [x.column]: [], [y.column]: [], [z.column]: [], text: [], winner: [], margin: [] };
    const add = (i, j, value, winner, margin) => {
      data[x.column].push(axes[this.x].values[i]);
      data[y.column].push(axes[this.y].values[j]);
      data[z.column].push(value);
      data.winner.push(winner);
      data.margin.push(margin);
      const ahead = margin !== null && margin <= TIE ? "tie" : `+${Number((100 * margin).toPrecision(2))} %`;
      data.text.push(winner === null ? this.short(z, value) : margin === null ? "" : ahead);
    };
    const best = new Map();
    for (const [key, value] of this.means(this.wins ? [this.x, this.y, this.who] : [this.x, this.y])) {
      const [i, j, who] = key.split(",").map(Number);
      best.set(`${i},${j}`, [...(best.get(`${i},${j}`) || []), [value, who]]);
    }
    const sorted = [...best.keys()].map((key) => key.split(",").map(Number)).sort((a, b) => a[1] - b[1] || a[0] - b[0]);
    const up = z.larger ? -1 : 1;
    for (const [i, j] of sorted) {
      const ranked = best.get(`${i},${j}`).sort((a, b) => up * (a[0] - b[0]) || a[1] - b[1]);
      if (!this.wins) { add(i, j, ranked[0][0], null, null); continue; }
      const [first] = ranked[0], ratio = (value) => first ? Math.abs(value / first - 1) : value === first ? 0 : null;
      const alike = ranked.filter(([value]) => ratio(value) !== null && ratio(value) <= TIE);
      add(i, j, first, alike.map(([, who]) => axes[this.who].values[who]).join(" = "), ranked[1] ? ratio(ranked[1][0]) : null);
    }
    const chart = { ...this.start.chart, hover: this.wins ? ["margin"] : [], text: "text", colour: this.wins ? "winner" : "" };
    return { ...this.start, chart, table: { rows: data.text.length, data } };
  }

  short(axis, value) {
    return shown(Number((axis.share ? 100 * value : value).toPrecision(4)));
  }
}
