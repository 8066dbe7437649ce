// What a reader has chosen to see: rows with some words or values of dimensions, and runs. The address of the page has it
// after the place, `#place?rows=cpu&without=10.6`, so that it can be shared.

const view = document.getElementById("view");
const runs = all("input[name=run]", view).map((box) => box.value);
const marked = new Set();

function readView() {
  const by = Object.fromEntries(all("select", view).filter((list) => list.selectedIndex).map((list) => [list.name.slice(3), list.value]));
  const words = view.elements.rows.value.toLowerCase().split(/\s+/).filter(Boolean);
  const without = new Set(all("input[name=run]", view).filter((box) => !box.checked).map((box) => box.value));
  return { words, by, without };
}
function isFiltering({ words, by }) {
  return words.length > 0 || Object.keys(by).length > 0;
}
const texts = new WeakMap();
/** The text of a row or figure that words are searched in: that in sight, and ids of metrics. */
function getSearchedText(item) {
  if (!texts.has(item)) {
    const ids = all("th a[data-metric], figcaption a[data-metric]", item).map((link) => link.dataset.metric);
    texts.set(item, [readText(item.querySelector("figcaption") || item), ...ids].join(" ").toLowerCase());
  }
  return texts.get(item);
}
function hasWords(item, words) {
  return words.every((word) => getSearchedText(item).includes(word));
}
function isRowWanted(row, { words, by, without }) {
  if (!hasWords(row, words)) return false;
  if (without.has(readText(row.cells[0]))) return false;
  const values = row.dataset.values ? JSON.parse(row.dataset.values) : {};
  return Object.entries(by).every(([name, value]) => !(name in values) || values[name] === value);
}
function showRows(table, wanted) {
  let count = 0;
  for (const body of table.tBodies) {
    const rows = [...body.rows].filter((row) => !row.classList.contains("group"));
    for (const row of rows) {
      row.hidden = !isRowWanted(row, wanted);
      if (!row.hidden) count += 1;
    }
    body.hidden = rows.length > 0 && rows.every((row) => row.hidden) && isFiltering(wanted);
  }
  return count;
}
/** Hide the columns of runs; a common heading spans those that are left. */
function showColumns(table, without) {
  const headings = all("th[data-run][data-column]", table.tHead);
  const changed = headings.filter((heading) => heading.hidden !== without.has(heading.dataset.run));
  for (const heading of changed) {
    heading.hidden = !heading.hidden;
    for (const row of all("tbody tr, tfoot tr", table)) {
      const cell = row.cells[heading.dataset.column];
      if (cell) cell.hidden = heading.hidden;
    }
  }
  if (!changed.length) return;
  const under = all("thead tr + tr th", table);
  let place = 0;
  for (const group of all("th.group", table.tHead)) {
    group.dataset.columns ??= group.colSpan;
    const left = under.slice(place, place += Number(group.dataset.columns)).filter((heading) => !heading.hidden).length;
    group.hidden = !left;
    group.colSpan = Math.max(left, 1);
  }
}
function showLines(without) {
  for (const figure of all(".chart")) {
    const buttons = all(".legend button", figure).filter((button) => runs.includes(button.dataset.line));
    const changed = buttons.filter((button) => without.has(button.dataset.line) === (button.getAttribute("aria-pressed") === "true"));
    changed.forEach((button) => button.setAttribute("aria-pressed", String(!without.has(button.dataset.line))));
    if (changed.length) figure.querySelector(".drawing").apply?.();
  }
}
function applyView() {
  const wanted = readView();
  const isFiltered = isFiltering(wanted);
  let count = 0;
  for (const table of all("main table.sortable, main table.forest")) {
    const own = showRows(table, wanted);
    count += own;
    showColumns(table, wanted.without);
    const scroll = table.closest(".scroll");
    if (scroll) {
      const isEmpty = isFiltered && !own;
      [scroll, scroll.nextElementSibling].forEach((item) => item?.classList.toggle("unmatched", isEmpty));
      if (!isEmpty) fit(scroll);
    }
    if (table.matches(".leads")) placeTabStop(table);
  }
  all(".chart").forEach((figure) => figure.classList.toggle("unmatched", !hasWords(figure, wanted.words)));
  all("main [data-run]:not(th)").forEach((item) => { item.hidden = wanted.without.has(item.dataset.run); });
  for (const section of all("main > section")) {
    const isMatched = section.querySelector(".sortable tbody tr:not([hidden]), .forest tbody tr:not(.group, [hidden]), .chart:not(.unmatched)");
    section.classList.toggle("unmatched", wanted.words.length > 0 && !isMatched);
  }
  showLines(wanted.without);
  const note = document.getElementById("left-out");
  note.replaceChildren(...isolate(wanted.without.size ? `Without ${[...wanted.without].join(", ")}.` : ""));
  note.hidden = !wanted.without.size;
  view.querySelector("[type=reset]").hidden = !isFiltered && !wanted.without.size;
  return count;
}

// The address

function splitAddress() {
  const [place, query] = location.hash.slice(1).split("?");
  return { place, query };
}
/** The element that the address names; null if there is none. */
function findPlace() {
  try {
    return document.getElementById(decodeURIComponent(splitAddress().place));
  } catch {
    return null; // not the code of any text
  }
}
function writeAddress() {
  const { by, without } = readView();
  const query = new URLSearchParams();
  const words = view.elements.rows.value.trim();
  if (words) query.set("rows", words);
  Object.entries(by).forEach(([name, value]) => query.append(`by.${name}`, value));
  without.forEach((run) => query.append("without", run));
  const { place } = splitAddress();
  const address = `#${place}${query.size ? `?${query}` : ""}`;
  history.replaceState(null, "", address === "#" ? location.pathname + location.search : address);
}
function readAddress(query) {
  const wanted = new URLSearchParams(query);
  view.elements.rows.value = wanted.get("rows") ?? "";
  all("select", view).forEach((list) => { list.value = wanted.get(list.name) ?? ""; });
  all("input[name=run]", view).forEach((box) => { box.checked = !wanted.getAll("without").includes(box.value); });
}
/** Show and mark the place that the address names, whatever is filtered out. */
function goToPlace() {
  const target = findPlace();
  marked.forEach((row) => row.classList.remove("marked"));
  marked.clear();
  if (!target) return;
  if (target.closest("[hidden], .unmatched")) {
    view.reset();
    applyView();
    writeAddress();
  }
  if (target.matches("tr")) {
    target.classList.add("marked");
    marked.add(target);
  }
  target.scrollIntoView();
}
// Charts and tables change their heights while a page opens, so it scrolls to the place again until the reader does something.
const SETTLED = 5000; // milliseconds after the page was opened
let isUntouched = true;
for (const name of ["wheel", "pointerdown", "touchstart", "keydown"]) {
  addEventListener(name, () => { isUntouched = false; }, { once: true, passive: true });
}
function stayAtPlace() {
  if (isUntouched && performance.now() < SETTLED) findPlace()?.scrollIntoView({ behavior: "instant" });
}
function followAddress() {
  const { query } = splitAddress();
  if (query === undefined) {
    writeAddress();
  } else {
    readAddress(query);
    applyView();
  }
  goToPlace();
}

view.hidden = false;
view.addEventListener("input", () => {
  const count = applyView();
  writeAddress();
  announce(`${count} ${count === 1 ? "row" : "rows"}`);
});
view.addEventListener("submit", (event) => event.preventDefault());
view.addEventListener("reset", () => setTimeout(() => { applyView(); writeAddress(); announce("All rows and runs"); view.elements.rows.focus(); }));
addEventListener("hashchange", followAddress);
if (location.hash) followAddress();
