"use strict";
// From a table and a chart to what Plotly draws. Text from files is shown as it is: Plotly's own
// mark-up (<b>, <a>, …) is escaped.

const plain = (text) =>
  String(text).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
const shown = (value) =>
  value === null || value === undefined || value === "" ? "–"
    : typeof value === "number" ? String(Number(value.toPrecision(9))) : String(value);
const narrow = () => window.innerWidth < 600;
const unique = (values) => [...new Set(values)];
const DASHES = ["solid", "dash", "dot", "dashdot"];
const SYMBOLS = ["circle", "square", "diamond", "triangle-up", "triangle-down", "x", "cross", "star"];

function theme() {
  const style = getComputedStyle(document.documentElement);
  const get = (name) => style.getPropertyValue(name).trim();
  return { ink: get("--ink"), line: get("--line"), card: get("--card"), soft: get("--soft") };
}

function rowsOf(table, chosen) {
  const n = table.rows, rows = [];
  const tests = Object.entries(chosen).map(([name, value]) => [table.data[name], value]);
  for (let i = 0; i < n; i++) {
    if (tests.every(([column, value]) => shown(column[i]) === value)) rows.push(i);
  }
  return rows;
}

function coloursOf(figure) {
  const column = figure.chart.colour ? figure.table.data[figure.chart.colour] : [];
  const found = new Map(), values = unique(column.map(shown));
  const indices = new Map(Object.entries(figure.chart.palette_index));
  let next = values.some((value) => indices.has(value)) ? Math.max(...indices.values()) + 1 : 0;
  values.forEach((value) => {
    const k = indices.has(value) ? indices.get(value) : next++;
    found.set(value, { colour: DATA.palette[k % DATA.palette.length], round: Math.floor(k / DATA.palette.length) });
  });
  return found;
}

function grouped(figure, rows, colours) {
  if (!figure.chart.colour) return [["", { colour: DATA.palette[0], round: 0 }, rows]];
  const column = figure.table.data[figure.chart.colour];
  const parts = new Map([...colours.keys()].map((value) => [value, []]));
  rows.forEach((i) => parts.get(shown(column[i])).push(i));
  return [...parts].filter(([, part]) => part.length).map(([v, part]) => [v, colours.get(v), part]);
}

function told(figure, i, axes) {
  const { chart, table } = figure, lines = [];
  const tell = (label, value) => lines.push(plain(`${label}: ${shown(value)}`));
  for (const axis of axes) {
    let value = table.data[axis.column][i];
    if (axis.share && typeof value === "number") value *= 100;
    tell(axis.title, value);
    const half = axis.error && table.data[axis.error] ? table.data[axis.error][i] : null;
    if (half !== null) tell("± (95 %)", axis.share ? 100 * half : half);
  }
  const more = [chart.colour, chart.end, chart.size, ...chart.hover];
  for (const name of more) {
    if (name && table.data[name] && table.data[name][i] !== null) tell(DATA.titles[name] || name, table.data[name][i]);
  }
  return lines.join("<br>");
}

function wrapped(label, most = narrow() ? 16 : 44) {
  const lines = [""];
  for (const word of String(label).split(" ")) {
    const last = lines[lines.length - 1];
    if (last && last.length + word.length + 1 > most) lines.push(word);
    else lines[lines.length - 1] = last ? `${last} ${word}` : word;
  }
  return lines.map(plain).join("<br>");
}

const linesOf = (label) => label.split("<br>").length;
const scaled = (axis, value) => (axis.share && value !== null ? 100 * value : value);

function errorOf(figure, axis, part) {
  const half = axis.error ? figure.table.data[axis.error] : null;
  if (!half || part.every((i) => half[i] === null)) return undefined;
  return { type: "data", array: part.map((i) => scaled(axis, half[i]) || 0), color: theme().soft, thickness: 1.2 };
}

function barTraces(figure, view, rows, colours) {
  const { chart, table } = figure, [x, y] = [view.x, view.y];
  const spans = chart.mark === "spans";
  const own = chart.text && view.x.column === chart.x[0].column;
  const inside = spans && chart.colour; // beside the bar where there is no colour to tell it by
  const traces = grouped(figure, rows, colours).map(([name, { colour }, part]) => ({
    type: "bar", orientation: "h", name: plain(name), showlegend: name !== "", marker: { color: colour },
    y: part.map((i) => wrapped(shown(table.data[y.column][i]))),
    base: spans ? part.map((i) => table.data[x.column][i]) : undefined,
    x: part.map((i) => spans ? table.data[chart.end][i] - table.data[x.column][i] : scaled(x, table.data[x.column][i])),
    error_x: errorOf(figure, x, part),
    text: own && inside ? part.map((i) => plain(shown(table.data[chart.text][i]))) : undefined,
    textposition: "inside", insidetextanchor: "middle", textangle: 0, textfont: { color: "#fff" },
    hovertext: part.map((i) => told(figure, i, [y, x])), hoverinfo: "text",
  }));
  if (own && !inside) {
    const half = (x.error && table.data[x.error]) || [], ends = table.data[spans ? chart.end : x.column];
    traces.push({ // beside the bar and its whisker
      type: "scatter", mode: "text", showlegend: false, hoverinfo: "skip", cliponaxis: false,
      textposition: "middle right", y: rows.map((i) => wrapped(shown(table.data[y.column][i]))),
      x: rows.map((i) => scaled(x, ends[i] + (half[i] || 0))),
      text: rows.map((i) => ` ${plain(table.data[chart.text][i] || "")}`),
    });
  }
  const marker = x.marker ? table.data[x.marker] : null;
  const there = marker ? rows.filter((i) => marker[i] !== null) : [];
  if (there.length) {
    traces.push({
      type: "scatter", mode: "markers", name: plain(x.marker_label), hoverinfo: "text",
      x: there.map((i) => marker[i]), y: there.map((i) => wrapped(shown(table.data[y.column][i]))),
      marker: { symbol: "line-ns-open", size: 18, color: theme().ink, line: { width: 2 } },
      hovertext: there.map((i) => plain(`${x.marker_label}: ${shown(marker[i])}`)),
    });
  }
  return traces;
}

function lineTraces(figure, view, rows, colours) {
  const { chart, table } = figure, { x, y } = view, steps = chart.mark === "steps";
  return grouped(figure, rows, colours).map(([name, { colour, round }, part]) => {
    const order = [...part].sort((a, b) => table.data[x.column][a] - table.data[x.column][b]);
    return {
      type: "scatter", mode: steps ? "lines" : "lines+markers", name: wrapped(name, 40),
      line: { color: colour, width: 2, shape: steps ? "hv" : "linear", dash: DASHES[round % 4] },
      marker: { symbol: SYMBOLS[round % 8], size: 6 },
      x: order.map((i) => scaled(x, table.data[x.column][i])),
      y: order.map((i) => scaled(y, table.data[y.column][i])),
      error_y: errorOf(figure, y, order),
      hovertext: order.map((i) => told(figure, i, [x, y])), hoverinfo: "text",
    };
  });
}

function pointTraces(figure, view, rows, colours) {
  const { chart, table } = figure, { x, y } = view;
  const traces = grouped(figure, rows, colours).map(([name, { colour, round }, part]) => ({
    type: "scatter", mode: "markers", name: plain(name),
    marker: {
      color: colour, opacity: 0.65, symbol: SYMBOLS[round % 8],
      size: chart.size ? part.map((i) => 4 + 2 * Math.sqrt(table.data[chart.size][i])) : 7,
    },
    x: part.map((i) => scaled(x, table.data[x.column][i])),
    y: part.map((i) => scaled(y, table.data[y.column][i])),
    hovertext: part.map((i) => told(figure, i, [x, y])), hoverinfo: "text",
  }));
  if (chart.diagonal && rows.length) {
    const all = [x, y].flatMap((axis) => rows.map((i) => scaled(axis, table.data[axis.column][i]))).filter((v) => v > 0);
    const ends = [all.reduce((a, b) => Math.min(a, b)), all.reduce((a, b) => Math.max(a, b))];
    traces.push({ type: "scatter", mode: "lines", name: "x = y", x: ends, y: ends, hoverinfo: "skip",
      line: { color: theme().soft, width: 1 } });
  }
  return traces;
}

function heatTraces(figure, view, rows, colours) {
  const { chart, table } = figure, { x, y, z } = view;
  const column = table.data[x.column], line = table.data[y.column];
  const xs = unique(rows.map((i) => shown(column[i]))), ys = unique(rows.map((i) => shown(line[i])));
  const empty = () => ys.map(() => xs.map(() => null));
  const [values, text, hover] = [empty(), empty(), empty()];
  const codes = new Map([...colours.keys()].map((value, k) => [value, k]));
  rows.forEach((i) => {
    const [r, c] = [ys.indexOf(shown(line[i])), xs.indexOf(shown(column[i]))];
    values[r][c] = chart.colour ? codes.get(shown(table.data[chart.colour][i])) : scaled(z, table.data[z.column][i]);
    text[r][c] = chart.text ? plain(shown(table.data[chart.text][i])) : "";
    hover[r][c] = told(figure, i, [x, y, z]);
  });
  const trace = {
    type: "heatmap", x: xs.map(plain), y: ys.map(plain), z: values, hovertext: hover, hoverinfo: "text",
    colorscale: "Cividis", xgap: 1, ygap: 1, colorbar: { title: { text: plain(z.title), side: "right" } },
  };
  if (xs.length * ys.length <= (narrow() ? 40 : 150)) Object.assign(trace, { text, texttemplate: "%{text}" });
  if (!chart.colour) return [trace];
  const n = Math.max(codes.size, 1);
  trace.colorscale = [...colours.values()].flatMap(({ colour }, k) => [[k / n, colour], [(k + 1) / n, colour]]);
  Object.assign(trace, { zmin: -0.5, zmax: n - 0.5, showscale: false, textfont: { color: "#fff" } });
  const keys = [...colours].map(([name, { colour }]) => ({
    type: "scatter", mode: "markers", x: [null], y: [null], name: plain(name), showlegend: true,
    marker: { color: colour, symbol: "square", size: 10 },
  }));
  return [trace, ...keys];
}

const TRACES = {
  bars: barTraces, spans: barTraces, lines: lineTraces, steps: lineTraces, points: pointTraces, heat: heatTraces,
};

function layoutOf(figure, view, traces, rows) {
  const { ink, line, card } = theme(), { chart, table } = figure, { x, y } = view;
  const barred = chart.mark === "bars" || chart.mark === "spans";
  const most = narrow() ? (barred ? 20 : 32) : 80; // letters in a line of an axis' title
  const wide = (side) => { // more than two decades need no ticks between them
    const values = traces.flatMap((t) => [...(t[side] || [])]).filter((v) => v > 0);
    return values.length > 0 && values.reduce((a, b) => Math.max(a, b)) > 100 * values.reduce((a, b) => Math.min(a, b));
  };
  const axisOf = (axis, name) => ({
    dtick: axis.log && !name && chart.mark !== "heat" && wide(axis === x ? "x" : "y") ? 1 : undefined,
    title: { text: name ? "" : wrapped(axis.title, most), standoff: 8 }, automargin: true, gridcolor: line, showgrid: !name, exponentformat: "power", minexponent: 4,
    zerolinecolor: line, linecolor: line, type: name || chart.mark === "heat" ? "category" : axis.log ? "log" : "linear",
  });
  const layout = {
    paper_bgcolor: card, plot_bgcolor: card, font: { color: ink, size: narrow() ? 11 : 13 },
    margin: { l: 50, r: narrow() ? 12 : 30, t: 10, b: 45 }, barmode: "overlay", dragmode: narrow() ? false : "zoom",
    xaxis: axisOf(x, false), yaxis: axisOf(y, barred), hoverlabel: { align: "left" },
    legend: { orientation: "h", y: -0.22, yanchor: "top", x: 0 }, showlegend: traces.length > 1,
    height: 420,
  };
  if (chart.mark === "heat") layout.yaxis.title.text = plain(y.title);
  if (chart.mark === "steps") layout.yaxis.range = [0, 101];
  if (barred) {
    const names = unique(rows.map((i) => wrapped(shown(table.data[y.column][i]))));
    layout.yaxis.autorange = "reversed";
    layout.yaxis.categoryorder = "array";
    layout.yaxis.categoryarray = names;
    layout.uniformtext = { mode: "hide", minsize: 8 };
    const tallest = names.reduce((most, name) => Math.max(most, 34, 10 + 15 * linesOf(name)), 0);
    layout.height = Math.max(220, 130 + tallest * names.length);
    const bars = traces.filter((t) => t.type === "bar");
    const starts = bars.flatMap((t) => [...(t.base || [])]), besides = traces.filter((t) => t.mode === "text").flatMap((t) => t.x);
    const ends = [...bars.flatMap((t) => t.x.map((v, k) => v + (t.base ? t.base[k] : 0))), ...besides].filter(Number.isFinite);
    const most = ends.reduce((a, b) => Math.max(a, b), starts.length ? -Infinity : 0);
    const least = [...ends, ...starts].reduce((a, b) => Math.min(a, b), starts.length ? Infinity : 0);
    if (besides.length) { // room for the text
      const letters = traces.flatMap((t) => (t.mode === "text" ? t.text : [])).reduce((a, b) => Math.max(a, b.length), 0);
      const share = Math.min(0.75, (letters * (narrow() ? 6 : 7.5)) / (narrow() ? 150 : 650));
      const wide = (most - least) || Math.abs(most) || 1;
      layout.xaxis.range = [least - (least === 0 ? 0 : 0.1 * wide), most + (wide * share) / (1 - share)];
    }
    layout.legend.y = -(50 + 20 * linesOf(layout.xaxis.title.text)) / (layout.height - 55);
    layout.height += narrow() ? 18 * traces.length : 0;
  } else if (chart.mark !== "heat") {
    layout.height += (narrow() ? 34 : 20) * Math.ceil(traces.length / (narrow() ? 1 : 3));
  }
  return layout;
}

function drawChart(place, figure, view, rows) {
  const colours = coloursOf(figure);
  const traces = TRACES[figure.chart.mark](figure, view, rows, colours);
  const layout = layoutOf(figure, view, traces, rows);
  place.style.height = `${layout.height}px`;
  return Plotly.react(place, traces, layout, { responsive: true, displaylogo: false, displayModeBar: false });
}
