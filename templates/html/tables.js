// Tables are sorted by their headings: ascending, descending, as they were.

const collator = new Intl.Collator("en", { numeric: true });
function getSortKey(row, column) {
  const cell = row.cells[column];
  return cell.dataset.number === undefined ? readText(cell) : Number(cell.dataset.number);
}
function compareKeys(left, right) {
  if (typeof left === "number" && typeof right === "number") return left - right;
  return typeof left === typeof right ? collator.compare(left, right) : typeof left === "number" ? -1 : 1;
}
function isMissing(value) {
  return typeof value === "string" && ["", "-", "—", "–", "---", "nan", "NaN", "unknown"].includes(value);
}
function sortTable(table, heading, order) {
  const body = table.tBodies[0];
  const column = Number(heading.dataset.column);
  const keyed = table.original.map((row) => [getSortKey(row, column), row]);
  const sign = order === "descending" ? -1 : 1;
  if (order !== "none") {
    const [present, missing] = [keyed.filter(([value]) => !isMissing(value)), keyed.filter(([value]) => isMissing(value))];
    present.sort(([left], [right]) => sign * compareKeys(left, right));
    keyed.splice(0, keyed.length, ...present, ...missing);
  }
  body.append(...keyed.map(([, row]) => row));
  all("th[aria-sort]", table.tHead).forEach((other) => other.removeAttribute("aria-sort"));
  if (order !== "none") heading.setAttribute("aria-sort", order);
  const name = heading.querySelector("button").textContent.trim();
  announce(order === "none" ? `${table.caption.textContent}: in the order of the report` : `${table.caption.textContent}: sorted by ${name}, ${order}`);
  placeTabStop(table);
}
function makeSortable(table) {
  table.original = [...table.tBodies[0].rows];
  for (const heading of all("th[data-column]", table.tHead)) {
    // Browsers leave buttons out of heads that they repeat on paper, so paper has the text by itself.
    const plain = create("span", { className: "on-paper" }, ...[...heading.childNodes].map((node) => node.cloneNode(true)));
    const button = create("button", { type: "button", title: "Sort" }, create("span", {}, ...heading.childNodes));
    button.addEventListener("click", () => {
      const next = { ascending: "descending", descending: "none" }[heading.getAttribute("aria-sort")] || "ascending";
      sortTable(table, heading, next);
    });
    heading.append(button, plain);
  }
}
all("table.sortable").forEach(makeSortable);

// A table that is wider than its place is laid out again on a narrow page: first with the name of each row on a line of
// its own, else with a heading before each value. On a wide page it scrolls. Any other table keeps its head in sight.

const narrow = matchMedia("(max-width: 48rem)");
const sizes = new ResizeObserver((entries) => entries.forEach(({ target }) => fit(target)));
function labelCells(table) {
  if (table.dataset.labelled) return;
  table.dataset.labelled = "yes";
  const labels = listHeadings(table);
  for (const row of all("tbody tr, tfoot tr", table)) {
    [...row.cells].forEach((cell, column) => { if (labels[column]) cell.dataset.label = labels[column]; });
  }
}
function fit(place) {
  const table = place.querySelector("table");
  const isTooWide = () => table.scrollWidth > place.clientWidth + 1;
  place.classList.remove("fits", "tall", "named", "stacked");
  if (narrow.matches && isTooWide()) {
    const columns = all("th[data-column]", table.tHead).filter((heading) => !heading.hidden).length - 1;
    table.style.setProperty("--columns", Math.max(columns, 1));
    labelCells(table);
    place.classList.add("named");
    if (table.tHead.rows.length > 1 || isTooWide()) place.classList.replace("named", "stacked");
  }
  const fits = !isTooWide();
  place.classList.toggle("fits", fits);
  place.classList.toggle("tall", !fits);
  const first = table.tHead.rows[0];
  table.style.setProperty("--first-row", `${first.getBoundingClientRect().height - 1}px`);
  if (fits) {
    ["tabindex", "role", "aria-label"].forEach((name) => place.removeAttribute(name));
  } else {
    place.tabIndex = 0;
    place.setAttribute("role", "region");
    const heading = place.closest("section")?.querySelector("h2")?.textContent ?? "";
    const caption = table.caption.textContent;
    place.setAttribute("aria-label", `Table ${heading && heading !== caption ? `${heading}: ` : ""}${caption}`);
  }
}
all(".scroll").forEach((place) => sizes.observe(place));
all("table.forest").forEach(labelCells);

// A table as CSV: the rows and columns in sight, with unrounded numbers where the page has them.

const printedNumber = /^\(?[-−+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?>?\)?(?: \*)?$/;
function listHeadings(table) {
  const texts = [];
  for (const heading of all("th[data-column]", table.tHead)) {
    texts[heading.dataset.column] = readText(heading.querySelector(".on-paper") || heading);
  }
  if (!texts.length) [...table.tHead.rows[0].cells].forEach((cell) => texts.push(readText(cell)));
  return texts;
}
function quoteField(text) {
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
function formatField(cell) {
  const text = readText(cell);
  return cell.dataset.number !== undefined && printedNumber.test(text) ? cell.dataset.number : text;
}
/** The lines of a table. Unrounded numbers are in the unit of the metric, which may differ from the printed one. */
function formatCsv(table) {
  const headings = listHeadings(table);
  const columns = headings.map((text, column) => column).filter((column) => {
    const heading = table.tHead.querySelector(`th[data-column="${column}"]`);
    return headings[column] !== "Fig." && !heading?.hidden;
  });
  const isUnrounded = "unrounded" in table.dataset;
  const isOfMetrics = table.classList.contains("metrics");
  const lines = [[...(isOfMetrics ? ["id"] : []), ...columns.map((column) => headings[column]), ...(isOfMetrics ? ["unit"] : [])]];
  for (const row of all("tbody tr:not([hidden])", table)) {
    const id = row.querySelector("th a[data-metric]")?.dataset.metric ?? "";
    const metric = data.metrics[id];
    const fields = columns.map((column) => formatField(row.cells[column]));
    if (isOfMetrics && metric) {
      const label = fields[0];
      const printedUnit = label.startsWith(`${metric.name}, `) ? label.slice(metric.name.length + 2) : "";
      fields[0] = metric.name;
      fields.push(isUnrounded ? metric.unit : printedUnit);
    }
    lines.push(isOfMetrics ? [id, ...fields] : fields);
  }
  return lines.map((fields) => `${fields.map(quoteField).join(",")}\r\n`).join("");
}
function saveFile(text, name) {
  const address = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  create("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}
async function copyTable(table, button) {
  const text = formatCsv(table);
  let answer = "Copied";
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const name = `${readText(table.caption).replace(/[^\w.]+/g, "-").replace(/^-+|-+$/g, "") || "table"}.csv`;
    saveFile(text, name);
    answer = `Saved as ${name}`;
  }
  button.textContent = answer;
  announce(`${table.caption.textContent}: ${answer}`);
  setTimeout(() => { button.textContent = "Copy as CSV"; }, 3000);
}
function offerCopy(table) {
  const button = create("button", { type: "button" }, "Copy as CSV");
  button.setAttribute("aria-label", `Copy as CSV: ${table.caption.textContent}`);
  button.addEventListener("click", () => copyTable(table, button));
  table.closest(".scroll").after(create("div", { className: "copy" }, button));
}
all("table.sortable").forEach(offerCopy);

// All rows of a long table are made when the reader unfolds them.

function buildWholeTable({ title, header, numeric, columns }) {
  const cells = columns.map(unpackColumn);
  const kind = (column) => (numeric[column] && column ? "number" : "");
  const head = header.map((text, column) => {
    const heading = create("th", { scope: "col", className: kind(column) }, text);
    heading.dataset.column = column;
    return heading;
  });
  const rows = cells[0].map((_, row) => create("tr", {}, ...cells.map((texts, column) => {
    const text = texts[row];
    const cell = column ? create("td", { className: kind(column) }, text) : create("th", { scope: "row" }, text);
    const number = Number(text.replace("−", "-"));
    if (numeric[column] && text && !Number.isNaN(number)) cell.dataset.number = number;
    return cell;
  })));
  const caption = create("caption", { className: "hidden" }, `${title}, all rows`);
  return create("table", { className: "sortable" }, caption, create("thead", {}, create("tr", {}, ...head)), create("tbody", {}, ...rows));
}
for (const place of all("details.whole")) {
  place.hidden = false;
  place.addEventListener("toggle", () => {
    if (place.querySelector("table")) return;
    const table = buildWholeTable(data.tables[place.dataset.table]);
    makeSortable(table);
    const scroll = create("div", { className: "scroll" }, table);
    place.append(scroll);
    offerCopy(table);
    sizes.observe(scroll);
    applyView();
  });
}

// One stop of the Tab key a table; arrow keys go on from there.

function placeTabStop(table) {
  const links = all("tbody a[data-metric], tfoot a[data-metric]", table);
  const visible = links.filter((link) => !link.closest("tr").hidden && !link.closest("th, td").hidden);
  const current = visible.find((link) => link.tabIndex === 0 && link.dataset.current);
  links.forEach((link) => { link.tabIndex = -1; });
  if (visible.length) (current || visible[0]).tabIndex = 0;
}
const steps = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
function findLink(cell, [down, right]) {
  const rows = [...cell.closest("table").querySelectorAll("tbody tr:not([hidden]), tfoot tr")];
  let [y, x] = [rows.indexOf(cell.parentElement), cell.cellIndex];
  for (;;) {
    [y, x] = [y + down, x + right];
    const next = rows[y] && rows[y].cells[x];
    if (!next) return null;
    const link = next.querySelector("a[data-metric]");
    if (link && !next.hidden) return link;
  }
}
for (const table of all("table.leads")) {
  placeTabStop(table);
  table.addEventListener("focusin", ({ target }) => {
    if (!target.matches("a[data-metric]")) return;
    all("a[data-current]", table).forEach((link) => { link.tabIndex = -1; delete link.dataset.current; });
    all("a[data-metric][tabindex='0']", table).forEach((link) => { link.tabIndex = -1; });
    target.tabIndex = 0;
    target.dataset.current = "yes";
  });
  table.addEventListener("keydown", (event) => {
    const link = event.target.closest("a[data-metric]");
    if (!link || !(event.key in steps)) return;
    const next = findLink(link.closest("th, td"), steps[event.key]);
    if (next) next.focus();
    event.preventDefault();
  });
}
