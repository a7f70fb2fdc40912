"use strict";
// Tables that are sorted by a click on a column's name, some rows at a time.

const ROWS_AT_A_TIME = 50;

function element(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

function compare(column, down) {
  return (a, b) => {
    const [u, v] = [column[a], column[b]];
    if (u === null || v === null) return u === v ? a - b : u === null ? 1 : -1; // missing ones last
    const order = typeof u === "number" && typeof v === "number" ? u - v : String(u).localeCompare(String(v));
    return (down ? -order : order) || a - b;
  };
}

function sortable(content, id) {
  const { table, columns } = content;
  let order = [...Array(table.rows).keys()], most = ROWS_AT_A_TIME;
  const body = element("tbody"), heads = new Map();
  const more = element("button", { type: "button" });
  const fill = () => {
    body.replaceChildren(...order.slice(0, most).map((i) => element("tr", {}, ...columns.map((c) => {
      const value = table.data[c.name][i];
      const cell = element("td", { textContent: shown(value), title: c.long ? "" : shown(value) });
      cell.className = c.number ? "number" : c.long ? "long" : "";
      return cell;
    }))));
    more.hidden = most >= order.length;
    more.textContent = `show more (${Math.min(most, order.length)} of ${order.length})`;
  };
  more.addEventListener("click", () => { most += 4 * ROWS_AT_A_TIME; fill(); });
  const head = element("tr", {}, ...columns.map((column) => {
    const button = element("button", { type: "button", textContent: column.title });
    const cell = element("th", { scope: "col", className: column.number ? "number" : "" }, button);
    heads.set(column.name, cell);
    button.addEventListener("click", () => {
      const down = cell.getAttribute("aria-sort") === "ascending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      cell.setAttribute("aria-sort", down ? "descending" : "ascending");
      order.sort(compare(table.data[column.name], down));
      fill();
    });
    return cell;
  }));
  fill();
  const grid = element("table", { id }, element("thead", {}, head), body);
  return element("div", {}, element("div", { className: "scroll", tabIndex: 0 }, grid), more);
}
