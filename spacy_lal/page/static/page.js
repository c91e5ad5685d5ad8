// The page: asks once for all views of a text, and shows the chosen one. All that is shown goes in
// as text or as parsed XML, never as HTML from strings.
import { card, copy, copySvg, panels, savePng, saveSvg } from "./panels.js";
import { draw, fit, fold, switchTo, turnOver, unfold, zoom } from "./picture.js";
import { $, EXAMPLES, fromAddress, make, page, toAddress, viewsOf } from "./state.js";
import { light, markMatches } from "./words.js";

let latest = 0; // the number of the latest question

function say(message, bad = false) {
  $("status").textContent = message;
  $("status").classList.toggle("bad", bad);
}

function showState() {
  const { state } = page;
  for (const id of ["text", "model", "other", "trees", "query"]) $(id).value = state[id];
  $("for-trees").hidden = state.view !== "kbest";
  $("for-threshold").hidden = state.view !== "errors";
  const buttons = viewsOf(state.model).map((view) => {
    const selected = view === state.view;
    const button = make("button", page.about.names[view], {
      type: "button", id: "view-" + view, role: "tab", "aria-controls": "pictures",
      "aria-selected": String(selected), tabindex: selected ? "0" : "-1",
    });
    button.addEventListener("click", () => change({ view }));
    return button;
  });
  const focused = document.activeElement && document.activeElement.parentNode === $("views");
  const { scrollLeft } = $("views");
  $("views").replaceChildren(...buttons);
  $("views").scrollLeft = scrollLeft;
  if (focused) $("view-" + state.view).focus();
}

// What is typed counts, whatever was clicked. Only another text, pipeline, pattern or number of
// trees is a question; another view is in the answer already.
function change(what, again = false) {
  const before = page.state;
  const next = { ...before, text: $("text").value, ...what };
  if (!viewsOf(next.model).includes(next.view)) next.view = viewsOf(next.model)[0] || "";
  page.state = next;
  toAddress("push");
  showState();
  const asked = ["text", "model", "other", "trees", "query"].some((key) => next[key] !== before[key]);
  if (asked || again || !page.answers.length) ask();
  else {
    switchTo(next.view);
    describe();
  }
}

async function question(model) {
  const { text, trees, query } = page.state;
  const views = viewsOf(model);
  const response = await fetch("/parse", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ text, model, query, views, trees: views.includes("kbest") ? trees : 0 }),
  });
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.error);
  return answer;
}

function clear(message, bad = false) {
  page.answers = [];
  draw();
  $("details").textContent = "";
  for (const id of ["copies", "legend", "errors", "warning"]) $(id).hidden = true;
  say(message, bad);
}

async function ask() {
  const number = ++latest;
  const { text, model, other } = page.state;
  card();
  $("pictures").classList.remove("busy");
  if (!text.trim()) return clear("Type a sentence.");
  say("…");
  $("pictures").classList.add("busy");
  let answers = [];
  let problem = "";
  try {
    answers = await Promise.all([model, ...(other ? [other] : [])].map(question));
  } catch (error) {
    problem = error instanceof TypeError ? "The server does not answer." : error.message;
  }
  if (number !== latest) return; // a newer question has been asked
  $("pictures").classList.remove("busy");
  if (problem) return clear(problem, true);
  page.answers = answers;
  draw();
  describe();
  const count = answers[0].record.words.length;
  const took = answers.map((answer) => (answer.seconds * 1000).toFixed(0)).join(" and ");
  say(`${count} token${count === 1 ? "" : "s"} in ${took} ms`);
}

// All that is said around the picture
function describe() {
  markMatches();
  panels();
  const warnings = [...new Set(page.answers.map((answer) => answer.warning).filter(Boolean))];
  $("warning").hidden = !warnings.length;
  $("warning").textContent = warnings.map((said) => `${said}.`).join(" ");
  const reach = matchMedia("(pointer: coarse)").matches ? "Tap" : "Point at, or reach with Tab,";
  const foldable = $("picture").querySelector(".lal-node");
  $("details").textContent = foldable
    ? `${reach} a phrase or a word to learn more of it; ${reach === "Tap" ? "tapping" : "a click or Enter"} folds a phrase.`
    : "";
  if (page.state.view === "errors") beginThreshold();
}

function beginThreshold() {
  // without one in the address, that of the pipeline
  const { threshold } = page.state;
  $("threshold").value = threshold === null ? page.answers[0].threshold : threshold;
  $("threshold-value").textContent = Number($("threshold").value).toFixed(2);
  if (threshold !== null) mark();
  else sayMarked();
}

function mark() {
  const least = Number($("threshold").value);
  $("threshold-value").textContent = least.toFixed(2);
  for (const token of $("picture").querySelectorAll(".lal-token[data-score]")) {
    token.classList.toggle("lal-wrong", Number(token.dataset.score) >= least);
  }
  sayMarked();
}

function sayMarked() {
  const count = $("picture").querySelectorAll(".lal-wrong").length;
  const words = `${count || "no"} word${count === 1 ? " is" : "s are"} marked`;
  $("details").textContent = `${words}, from a probability of ${$("threshold-value").textContent} on`;
}

function keys(event) {
  const views = viewsOf(page.state.model);
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!step) return;
  event.preventDefault();
  change({ view: views[(views.indexOf(page.state.view) + step + views.length) % views.length] });
}

function restore() {
  page.state = fromAddress();
  showState();
  ask();
}

function on(id, kind, act) {
  $(id).addEventListener(kind, act);
}

function listen() {
  const submit = (event) => {
    event.preventDefault();
    change({ query: $("query").value.trim() }, true);
  };
  on("form", "submit", submit);
  on("search", "submit", submit);
  on("text", "keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) submit(event);
  });
  for (const id of ["model", "other"]) on(id, "change", () => change({ [id]: $(id).value }));
  on("trees", "change", () => {
    const asked = Math.round(Number($("trees").value)) || 3;
    change({ trees: Math.min(Math.max(asked, 2), page.about.max_trees) });
  });
  on("threshold", "input", mark);
  on("threshold", "change", () => {
    page.state.threshold = Number($("threshold").value);
    toAddress("replace");
  });
  on("views", "keydown", keys);
  for (const kind of ["pointerover", "focusin"]) on("pictures", kind, (event) => light(event.target));
  on("pictures", "pointerleave", () => light(null));
  const folded = (event) => {
    const node = event.target.closest(".lal-node");
    if (!node || (event.type === "keydown" && event.key !== "Enter" && event.key !== " ")) return;
    event.preventDefault();
    fold(node);
  };
  for (const kind of ["click", "keydown"]) on("pictures", kind, folded);
  on("smaller", "click", () => zoom(0.8));
  on("larger", "click", () => zoom(1.25));
  on("fit", "click", fit);
  on("turn", "click", () => {
    turnOver();
    describe();
  });
  on("unfold", "click", unfold);
  on("copy-brackets", "click", () => copy("Brackets", page.answers[0].brackets.join("\n")));
  on("copy-json", "click", () => copy("JSON", JSON.stringify(page.answers[0].record, null, 1)));
  on("copy-conllu", "click", () => copy("CoNLL-U", page.answers[0].conllu));
  on("copy-svg", "click", copySvg);
  on("save-svg", "click", saveSvg);
  on("save-png", "click", savePng);
  addEventListener("popstate", restore);
}

async function begin() {
  try {
    const [about, labels] = await Promise.all(["/models", "/labels"].map((path) => fetch(path)));
    page.about = await about.json();
    page.labels = await labels.json();
  } catch {
    return say("The server does not answer.", true);
  }
  const { about } = page;
  for (const name of Object.keys(about.models)) {
    for (const id of ["model", "other"]) $(id).append(make("option", name, { value: name }));
  }
  for (const [name, text] of Object.entries(EXAMPLES)) {
    const button = make("button", name, { type: "button", title: text });
    button.addEventListener("click", () => change({ text }));
    $("examples").append(button);
  }
  $("trees").max = about.max_trees;
  $("text").maxLength = about.max_chars;
  const most = `At most ${about.max_chars.toLocaleString("en")} characters.`;
  const touch = matchMedia("(pointer: coarse)").matches;
  $("hint").textContent = touch ? most : `Ctrl+Enter shows it. ${most}`;
  listen();
  page.state = fromAddress();
  toAddress("replace");
  restore();
}

begin();
