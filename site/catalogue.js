"use strict";
(() => {
  const root = document.documentElement;
  root.classList.add("with-scripts");
  const storedTheme = (() => { try { return localStorage.getItem("theme"); } catch { return null; } })();
  if (storedTheme === "light" || storedTheme === "dark") root.dataset.theme = storedTheme;

  const isDark = () => root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;

  function setUpTheme() {
    const button = document.getElementById("theme");
    const updateLabel = () => { button.textContent = isDark() ? "Light colours" : "Dark colours"; };
    button.addEventListener("click", () => {
      root.dataset.theme = isDark() ? "light" : "dark";
      try { localStorage.setItem("theme", root.dataset.theme); } catch { /* storage is not allowed */ }
      updateLabel();
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", updateLabel);
    updateLabel();
  }

  // A picture that is wider than its container fades at the edges where it continues.
  function setUpPictures() {
    for (const container of document.querySelectorAll(".picture")) {
      const markEdges = () => {
        container.classList.toggle("more-left", container.scrollLeft > 1);
        container.classList.toggle("more-right", container.scrollLeft + container.clientWidth < container.scrollWidth - 1);
      };
      container.addEventListener("scroll", markEdges, { passive: true });
      new ResizeObserver(markEdges).observe(container);
    }
  }

  // Every word must match. Exact ids and names score highest, then those that begin with the word.
  function computeScore(entry, words) {
    let total = 0;
    for (const word of words) {
      if (entry.id === word || entry.name === word) total += 100;
      else if (entry.id.startsWith(word) || entry.name.startsWith(word)) total += 50;
      else if (entry.id.includes(word) || entry.name.includes(word)) total += 20;
      else if (entry.doc.includes(word)) total += 5;
      else if (entry.more.includes(word)) total += 2;
      else return 0;
    }
    return total;
  }

  function setUpSearch() {
    const field = document.getElementById("query");
    if (!field) return;
    const body = document.querySelector("#index tbody");
    const status = document.getElementById("found");
    const normalize = text => text.normalize("NFKC").toLowerCase();
    const entries = [...body.rows].map((row, index) => ({
      row, index, id: normalize(row.dataset.id), name: normalize(row.dataset.name), more: normalize(row.dataset.more),
      doc: normalize(row.cells[2].textContent),
    }));
    const update = () => {
      const words = normalize(field.value).split(/\s+/).filter(Boolean);
      for (const entry of entries) entry.score = words.length ? computeScore(entry, words) : 1;
      const matches = entries.filter(entry => entry.score);
      for (const entry of entries) entry.row.hidden = !entry.score;
      body.append(...[...entries].sort((a, b) => b.score - a.score || a.index - b.index).map(entry => entry.row));
      status.textContent = words.length ? `${matches.length} of ${entries.length} found` : `${entries.length} metrics and series`;
      history.replaceState(null, "", words.length ? `#q=${encodeURIComponent(field.value)}` : location.hash.startsWith("#q=") ? "#" : location.hash);
    };
    const readHash = () => {
      if (!location.hash.startsWith("#q=")) return;
      try { field.value = decodeURIComponent(location.hash.slice(3)); } catch { field.value = ""; }
      update();
    };
    field.addEventListener("input", update);
    field.addEventListener("keydown", event => {
      if (event.key === "Escape") { field.value = ""; update(); }
    });
    document.getElementById("search").addEventListener("submit", event => {
      event.preventDefault();
      const first = body.querySelector("tr:not([hidden]) a");
      if (first && field.value.trim()) location.assign(first.href);
    });
    document.addEventListener("keydown", event => {
      if (event.key === "/" && event.target === document.body) { event.preventDefault(); field.focus(); }
    });
    addEventListener("hashchange", readHash);
    readHash(); // first, as updating an empty search clears the address of another
    update();
  }

  document.addEventListener("DOMContentLoaded", () => {
    setUpTheme();
    setUpSearch();
    setUpPictures();
    root.classList.add("complete");
  });
})();
