"use strict";
// All that is shown goes in as text or as parsed XML, never as HTML from strings. The state is in
// the fragment of the address, which browsers don't send to servers.
const $ = (id) => document.getElementById(id);
const EXAMPLE = "I saw the man with the old telescope.";
const XHTML = "http://www.w3.org/1999/xhtml";
let about = null;
let shown = null; // the answer that is shown
let latest = 0; // the number of the latest question
let state = null;

function fromAddress() {
  const given = new URLSearchParams(location.hash.slice(1));
  const models = Object.keys(about.models);
  const model = models.includes(given.get("model")) ? given.get("model") : models[0];
  const views = about.models[model];
  const view = views.includes(given.get("view")) ? given.get("view") : views[0] || "";
  const trees = Math.round(Number(given.get("trees")) || 3);
  const threshold = given.has("threshold") ? Number(given.get("threshold")) : null;
  return {
    model, view,
    trees: Math.min(Math.max(trees, 2), about.max_trees),
    threshold: threshold >= 0 && threshold <= 1 ? threshold : null,
    text: given.has("text") ? given.get("text") : EXAMPLE,
  };
}

function toAddress(how) {
  const said = new URLSearchParams({ model: state.model, view: state.view });
  if (state.view === "kbest") said.set("trees", state.trees);
  if (state.threshold !== null) said.set("threshold", state.threshold);
  said.set("text", state.text);
  const hash = "#" + said;
  if (hash !== location.hash) history[how + "State"](null, "", hash);
}

function say(message, bad = false) {
  $("status").textContent = message;
  $("status").classList.toggle("bad", bad);
}

function showState() {
  $("text").value = state.text;
  $("model").value = state.model;
  $("trees").value = state.trees;
  $("for-trees").hidden = state.view !== "kbest";
  $("for-threshold").hidden = state.view !== "errors";
  const buttons = about.models[state.model].map((view) => {
    const button = document.createElement("button");
    const selected = view === state.view;
    button.type = "button";
    button.id = "view-" + view;
    button.textContent = about.names[view];
    button.setAttribute("role", "tab");
    button.setAttribute("aria-selected", String(selected));
    button.setAttribute("aria-controls", "picture");
    button.tabIndex = selected ? 0 : -1;
    button.addEventListener("click", () => change({ view }));
    return button;
  });
  const focused = document.activeElement && document.activeElement.parentNode === $("views");
  $("views").replaceChildren(...buttons);
  if (focused) $("view-" + state.view).focus();
}

// what is typed counts, whatever was clicked
function change(what) {
  const next = { ...state, text: $("text").value, ...what };
  if (!about.models[next.model].includes(next.view)) next.view = about.models[next.model][0] || "";
  state = next;
  toAddress("push");
  showState();
  ask();
}

async function ask() {
  const number = ++latest;
  const { text, model, view } = state;
  if (!text.trim()) {
    shown = null;
    $("picture").replaceChildren();
    $("picture").classList.remove("busy");
    $("details").textContent = "";
    $("copies").hidden = true;
    return say("Type a sentence.");
  }
  say("…");
  $("picture").classList.add("busy");
  let answer = null;
  let problem = "";
  try {
    const trees = view === "kbest" ? state.trees : 0;
    const response = await fetch("/parse", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ text, model, view, trees }),
    });
    answer = await response.json();
    if (!response.ok) problem = answer.error;
  } catch {
    problem = "The server does not answer.";
  }
  if (number !== latest) return; // a newer question has been asked
  $("picture").classList.remove("busy");
  $("details").textContent = "";
  if (problem) {
    shown = null;
    $("picture").replaceChildren();
    $("copies").hidden = true;
    return say(problem, true);
  }
  shown = answer;
  const count = answer.record.words.length;
  const took = `${count} token${count === 1 ? "" : "s"} in ${(answer.seconds * 1000).toFixed(0)} ms`;
  say(answer.warning ? `${answer.warning}. ${took}` : took);
  $("picture").replaceChildren(...(view === "kbest" ? sideBySide(answer.kbest) : parsed(answer.picture)));
  $("copies").hidden = false;
  $("copy-brackets").hidden = !answer.brackets;
  $("copy-svg").hidden = !$("picture").querySelector("svg");
  const nodes = $("picture").querySelectorAll(".lal-node");
  for (const node of nodes) node.setAttribute("tabindex", "0");
  if (nodes.length) $("details").textContent = "Point at a phrase, or reach it with Tab, to learn more of it.";
  if (view === "errors") beginThreshold();
}

function parsed(picture) {
  const wrapped = `<div xmlns="${XHTML}">${picture}</div>`;
  const found = new DOMParser().parseFromString(wrapped, "application/xml").documentElement;
  if (found.querySelector("parsererror") || found.nodeName === "parsererror") throw new Error("no XML");
  return [...found.childNodes].map((node) => document.importNode(node, true));
}

function sideBySide(sentences) {
  return sentences.map((trees) => {
    const row = document.createElement("div");
    row.className = "best";
    trees.forEach((tree, k) => {
      const figure = document.createElement("figure");
      const caption = document.createElement("figcaption");
      const probability = (100 * Math.exp(tree.log_prob)).toFixed(1);
      caption.textContent = `${k + 1}: probability ${probability} %`;
      figure.append(caption, ...parsed(tree.picture));
      row.append(figure);
    });
    return row;
  });
}

function describe(event) {
  const node = event.target.closest(".lal-node");
  if (!node || !shown) return;
  const { start, end, label, probability } = node.dataset;
  const record = shown.record;
  const words = record.words.slice(Number(start), Number(end)).join(" ");
  const lines = [`${label}: ${words}`];
  if (probability !== undefined) lines.push(`probability ${Number(probability).toFixed(3)}`);
  const heads = (shown.contributions || []).find((c) => c.start === Number(start) && c.end === Number(end));
  if (heads) {
    const said = heads.heads.map(([head, share]) => `${head} (${(100 * share).toFixed(1)} %)`);
    lines.push(`heads that contribute most: ${said.join(", ")}`);
  }
  $("details").textContent = lines.join("\n");
}

function beginThreshold() {
  // without one in the address, that of the pipeline
  $("threshold").value = state.threshold === null ? shown.threshold : state.threshold;
  $("threshold-value").textContent = Number($("threshold").value).toFixed(2);
  if (state.threshold !== null) mark();
  else sayMarked();
}

function mark() {
  const least = Number($("threshold").value);
  $("threshold-value").textContent = least.toFixed(2);
  for (const token of $("picture").querySelectorAll(".lal-token[data-score]")) {
    const wrong = Number(token.dataset.score) >= least;
    token.classList.toggle("lal-wrong", wrong);
  }
  sayMarked();
}

function sayMarked() {
  const count = $("picture").querySelectorAll(".lal-wrong").length;
  const words = `${count || "no"} word${count === 1 ? " is" : "s are"} marked`;
  $("details").textContent = `${words}, from a probability of ${$("threshold-value").textContent} on`;
}

async function copy(what, text) {
  try {
    await navigator.clipboard.writeText(text);
    $("copied").textContent = `${what} copied`;
  } catch {
    $("copied").textContent = "the browser does not let the page copy";
  }
}

function svgText() {
  const all = [...$("picture").querySelectorAll("svg")];
  return all.map((svg) => new XMLSerializer().serializeToString(svg)).join("\n");
}

function keys(event) {
  const views = about.models[state.model];
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!step) return;
  event.preventDefault();
  const next = (views.indexOf(state.view) + step + views.length) % views.length;
  change({ view: views[next] });
}

function restore() {
  state = fromAddress();
  showState();
  ask();
}

async function begin() {
  try {
    about = await (await fetch("/models")).json();
  } catch {
    return say("The server does not answer.", true);
  }
  for (const name of Object.keys(about.models)) {
    const option = document.createElement("option");
    option.value = option.textContent = name;
    $("model").append(option);
  }
  $("trees").max = about.max_trees;
  $("text").maxLength = about.max_chars;
  $("hint").textContent = `Ctrl+Enter shows it. At most ${about.max_chars.toLocaleString("en")} characters.`;
  $("form").addEventListener("submit", (event) => {
    event.preventDefault();
    change({});
  });
  $("text").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      change({});
    }
  });
  $("model").addEventListener("change", () => change({ model: $("model").value }));
  $("trees").addEventListener("change", () => {
    const asked = Math.round(Number($("trees").value)) || 3;
    change({ trees: Math.min(Math.max(asked, 2), about.max_trees) });
  });
  $("threshold").addEventListener("input", mark);
  $("threshold").addEventListener("change", () => {
    state.threshold = Number($("threshold").value);
    toAddress("replace");
  });
  $("views").addEventListener("keydown", keys);
  for (const kind of ["pointerover", "focusin"]) $("picture").addEventListener(kind, describe);
  $("copy-brackets").addEventListener("click", () => copy("Brackets", shown.brackets.join("\n")));
  $("copy-json").addEventListener("click", () => copy("JSON", JSON.stringify(shown.record, null, 1)));
  $("copy-conllu").addEventListener("click", () => copy("CoNLL-U", shown.conllu));
  $("copy-svg").addEventListener("click", () => copy("SVG", svgText()));
  addEventListener("popstate", restore);
  state = fromAddress();
  toAddress("replace");
  restore();
}

begin();
