const data = JSON.parse(document.getElementById("data").textContent);
const root = document.documentElement;
const all = (selector, within = document) => [...within.querySelectorAll(selector)];
const announce = (text) => { document.getElementById("status").textContent = text; };
root.classList.add("with-scripts");

// Words that are written from right to left are isolated, so that numbers beside them keep their order: see bidi.py.

const letters = "\\u0590-\\u08ff\\ufb1d-\\ufdff\\ufe70-\\ufefe\\u{10800}-\\u{10fff}\\u{1e800}-\\u{1efff}";
const rightToLeft = new RegExp(`([${letters}](?:[ '_-]*[${letters}])*)`, "u");
/** The text of an element, without the characters that isolate words in it. */
const readText = (element) => element.textContent.replace(/[\u2068\u2069]/g, "").trim();
/** A text with its words isolated by characters, for places that have no elements. */
const isolateText = (text) => text.split(rightToLeft).map((part, index) => (index % 2 ? `\u2068${part}\u2069` : part)).join("");
/** The pieces of a child: texts, and elements around the words of a text. */
function isolate(child) {
  if (typeof child !== "string" || !rightToLeft.test(child)) return [child];
  return child.split(rightToLeft).map((part, index) => {
    if (index % 2 === 0) return part;
    const element = document.createElement("bdi");
    element.textContent = part;
    return element;
  });
}
/** An element with properties and children; texts stay texts. */
function create(name, properties = {}, ...children) {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children.flatMap(isolate));
  return element;
}

// Light and dark: what the system says, until the reader says otherwise.

const dark = matchMedia("(prefers-color-scheme: dark)");
const remembered = {
  get: () => { try { return localStorage.getItem("assay-theme"); } catch { return null; } },
  set: (value) => { try { localStorage.setItem("assay-theme", value); } catch { /* a page may have no memory */ } },
};
const theme = () => root.dataset.theme || (dark.matches ? "dark" : "light");
const themeButton = document.getElementById("theme");
const redrawn = [];

function applyTheme() {
  const other = theme() === "dark" ? "Light" : "Dark";
  themeButton.textContent = other;
  themeButton.setAttribute("aria-label", `${other} colours`);
  redrawn.forEach((draw) => draw());
}
if (["light", "dark"].includes(remembered.get())) root.dataset.theme = remembered.get();
themeButton.addEventListener("click", () => {
  root.dataset.theme = theme() === "dark" ? "light" : "dark";
  remembered.set(root.dataset.theme);
  applyTheme();
});
dark.addEventListener("change", applyTheme);
themeButton.parentElement.hidden = false;
applyTheme();

// Contents: open where there is room beside the report; the part that is read is marked.

const contents = document.querySelector("#contents details");
const roomy = matchMedia("(min-width: 75rem)");
const foldContents = () => { contents.open = roomy.matches; };
roomy.addEventListener("change", foldContents);
foldContents();
const parts = all("#contents a").map((link) => [link, document.getElementById(decodeURIComponent(link.hash.slice(1)))]);
let pending = false;
function markPart() {
  pending = false;
  const passed = parts.filter(([, part]) => part && part.getBoundingClientRect().top < innerHeight / 3);
  parts.forEach(([link]) => link.removeAttribute("aria-current"));
  if (passed.length) passed[passed.length - 1][0].setAttribute("aria-current", "true");
}
addEventListener("scroll", () => {
  if (!pending) requestAnimationFrame(markPart);
  pending = true;
}, { passive: true });
markPart();
