// A switch between each table of metrics and the sentences on it, which the part with observations has.

const observed = all(".observations li");

/** The sentences that quote a metric of a table. */
function findSentences(table) {
  const metrics = new Set(all("tbody a[data-metric]", table).map((link) => link.dataset.metric));
  return observed.filter((item) => all("a[data-metric]", item).some((link) => metrics.has(link.dataset.metric)));
}
function addSwitch(table, sentences) {
  const scroll = table.closest(".scroll");
  const list = document.createElement("ul");
  list.className = "note";
  list.hidden = true;
  list.append(...sentences.map((item) => item.cloneNode(true)));
  const group = document.createElement("div");
  group.className = "switch scripted";
  group.setAttribute("role", "group");
  group.setAttribute("aria-label", `Form of ${table.caption.textContent}`);
  const buttons = ["Table", "Sentences"].map((text, index) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = text;
    button.setAttribute("aria-pressed", String(index === 0));
    return button;
  });
  buttons.forEach((button, index) =>
    button.addEventListener("click", () => {
      buttons.forEach((other) => other.setAttribute("aria-pressed", String(other === button)));
      scroll.hidden = index === 1;
      if (scroll.nextElementSibling?.classList.contains("copy")) scroll.nextElementSibling.hidden = index === 1;
      list.hidden = index === 0;
    }),
  );
  group.append(...buttons);
  scroll.before(group, list);
}
for (const table of all("table.metrics")) {
  const sentences = findSentences(table);
  if (sentences.length > 0) addSwitch(table, sentences);
}
