"use strict";
// Puts the page together: summary, figures with their selectors, tables.

const DATA = JSON.parse(document.getElementById("data").textContent);
const drawn = [];

function control(place, label, options, onChange) {
  const select = element("select", {}, ...options.map((text, k) => element("option", { value: k, textContent: text })));
  select.setAttribute("aria-label", label);
  select.addEventListener("change", () => onChange(Number(select.value)));
  place.append(element("label", {}, element("span", { textContent: label }), select));
  return select;
}

function cardOf(title, id) {
  const card = element("article", { id });
  card.append(element("h2", { textContent: title }));
  document.getElementById("figures").append(card);
  document.getElementById("contents").append(element("a", { href: `#${id}`, textContent: title }));
  return card;
}

function named(view, chosen) {
  // Axes whose numbers are the metric that is chosen have its name, too.
  const title = (axis) => axis && axis.of ? { ...axis, title: `${DATA.metrics[chosen[axis.of]]}, ${axis.label}` } : axis;
  return { x: title(view.x), y: title(view.y), z: view.z };
}

function addFigure(figure) {
  const { chart, table } = figure, card = cardOf(figure.title, figure.name);
  const controls = element("div", { className: "controls" });
  const plot = element("div", { className: "plot" }), empty = element("p", { className: "empty" });
  card.append(controls, plot, empty, element("p", { className: "note", textContent: chart.note }));
  const view = { x: chart.x[0], y: chart.y[0], z: chart.z[0] }, chosen = {};
  const explorer = chart.explore && DATA.cube ? new Explorer(figure) : null;
  const draw = () => {
    const now = explorer ? explorer.figure() : figure;
    const rows = rowsOf(now.table, explorer ? {} : chosen);
    empty.textContent = rows.length ? "" : "No point with these values.";
    return drawChart(plot, now, explorer ? explorer.view : named(view, chosen), rows);
  };
  if (explorer) explorer.controls(controls, draw);
  else {
    for (const side of ["x", "y", "z"]) {
      if (chart[side].length > 1) {
        const sides = { x: "x axis", y: "y axis", z: "colour" };
        control(controls, sides[side], chart[side].map((a) => a.title), (k) => { view[side] = chart[side][k]; draw(); });
      }
    }
    for (const name of chart.select) {
      const values = unique(table.data[name].map(shown));
      chosen[name] = values[0];
      if (values.length > 1) {
        const names = name === "metric" ? values.map((v) => DATA.metrics[v] || v) : values;
        control(controls, DATA.titles[name] || name, names, (k) => { chosen[name] = values[k]; draw(); });
      }
    }
  }
  drawn.push({ card, draw, done: false });
}

function drawOnce(entry) {
  if (!entry.done) {
    entry.done = true;
    entry.draw();
  }
}

function watch() {
  const observer = new IntersectionObserver((seen) => seen.forEach((s) => {
    if (s.isIntersecting) drawOnce(drawn.find((entry) => entry.card === s.target));
  }), { rootMargin: "600px" });
  drawn.forEach((entry) => observer.observe(entry.card));
  window.addEventListener("beforeprint", () => drawn.forEach(drawOnce));
  let width = window.innerWidth;
  window.addEventListener("resize", () => {
    if ((width < 600) !== narrow()) drawn.filter((entry) => entry.done).forEach((entry) => entry.draw());
    width = window.innerWidth;
  });
}

function setTheme(dark) {
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  document.getElementById("theme").textContent = dark ? "Light" : "Dark";
  drawn.filter((entry) => entry.done).forEach((entry) => entry.draw());
}

function summary() {
  const place = document.getElementById("summary");
  for (const run of DATA.runs) {
    if (DATA.runs.length > 1) place.append(element("h3", { textContent: run.name }));
    const list = element("dl");
    run.facts.forEach(([key, value]) => list.append(element("dt", { textContent: key }), element("dd", { textContent: value })));
    place.append(list);
  }
  DATA.notices.forEach((text) => document.getElementById("notices").append(
    element("p", { className: "notice", textContent: text })));
}

function tables() {
  const place = document.getElementById("tables");
  for (const content of DATA.tables) {
    place.append(element("h2", { textContent: content.title, id: `about-${content.name}` }), sortable(content, `table-${content.name}`));
    if (content.note) place.append(element("p", { className: "note", textContent: content.note }));
    document.getElementById("contents").append(element("a", { href: `#about-${content.name}`, textContent: content.title }));
  }
  if (DATA.missing.length) {
    const list = element("ul", {}, ...DATA.missing.map(([title, why]) => element("li", { textContent: `${title}: ${why}` })));
    document.getElementById("missing").append(element("h2", { textContent: "Not drawn" }), list);
  }
}

summary();
DATA.figures.forEach(addFigure);
tables();
setTheme(window.matchMedia("(prefers-color-scheme: dark)").matches);
document.getElementById("theme").addEventListener("click", () => setTheme(document.documentElement.dataset.theme !== "dark"));
watch();
