// Around the picture: legend, errors, card, Python, copies and downloads.
import { isTurned } from "./picture.js";
import { $, make, page } from "./state.js";
import { meaning } from "./words.js";

const CATEGORIES = {
  noun: "noun phrases", verb: "verb phrases", preposition: "prepositional phrases",
  modifier: "adjectives, adverbs", clause: "clauses", other: "others",
};
const ROLES = {
  V: "predicate", ARG0: "agent", ARG1: "patient", ARG2: "", ARG3: "", ARG4: "", ARGM: "time, place, manner, …",
};
const OF_TREES = ["all", "tree", "boxes", "kbest"];
const OF_ROLES = ["all", "srl", "srl_lanes"];
const WITH_PIPELINE = ["probabilities", "label_attention", "layers"];

export function panels() {
  const { answers, state } = page;
  const [answer] = answers;
  legend(answer.record, state.view);
  listErrors(answer.record, state.view);
  python(state);
  $("copies").hidden = false;
  $("copy-brackets").hidden = !answer.brackets;
  for (const id of ["copy-svg", "save-svg", "save-png"]) $(id).hidden = !svgs().length;
}

function legend(record, view) {
  const entry = (name, said, title = "") => make("span", said, { class: name, title });
  const entries = [];
  if (OF_TREES.includes(view) && record.constituents) {
    for (const [name, said] of Object.entries(CATEGORIES)) entries.push(entry(`lal-category-${name}`, said));
    entries.push(entry("lal-doubt-1", "probability below 0.8"), entry("lal-doubt-2", "below 0.5"));
  }
  if (OF_ROLES.includes(view) && record.frames) {
    for (const [name, said] of Object.entries(ROLES)) {
      entries.push(entry(`lal-role-${name.toLowerCase()}`, `${name} ${said}`.trim(), meaning(name)));
    }
  }
  if (["all", "errors"].includes(view) && record.errors) entries.push(entry("lal-wrong", "wrong word"));
  $("legend").hidden = !entries.length;
  $("legend").replaceChildren(...entries);
}

function listErrors(record, view) {
  const errors = ["all", "errors"].includes(view) ? record.errors || [] : [];
  const items = errors.map((error) => {
    const words = record.words.slice(error.start, error.end).join(" ");
    const kind = meaning(error.label) || error.label || "error";
    const sure = error.score === null ? "" : `, ${(100 * error.score).toFixed(0)} %`;
    const better = (error.suggestions || []).map((suggestion) => suggestionButton(record, error, suggestion));
    return make("li", [make("b", words), `: ${kind}${sure}`, ...better.flatMap((button) => [" ", button])]);
  });
  $("errors").hidden = !items.length;
  $("errors").replaceChildren(...items);
}

// A click puts the suggestion into the text, which is asked again
function suggestionButton(record, error, { text, probability }) {
  const said = text || "leave it out";
  const title = `${(100 * probability).toFixed(0)} % of what might be right here; a click corrects the text`;
  const button = make("button", said, { type: "button", class: "suggestion", title });
  button.addEventListener("click", () => {
    const last = error.end - 1;
    const letters = [...page.state.text]; // the record counts these, not the units of UTF-16
    const before = letters.slice(0, record.starts[error.start]).join("");
    const behind = letters.slice(record.starts[last] + [...record.words[last]].length).join("");
    // a word that is left out takes a space with it
    $("text").value = text
      ? (/^[,.;:!?]/.test(text) ? before.trimEnd() : before) + text + behind
      : before + behind.replace(/^ /, "");
    $("text").form.requestSubmit();
  });
  return button;
}

function python({ model, view, text, trees, query }) {
  const lines = ["import spacy"];
  const quoted = JSON.stringify(text);
  const parse = [`nlp = spacy.load(${JSON.stringify(model)})`, `doc = nlp(${quoted})`];
  if (view === "kbest") {
    lines.push("", ...parse, `for trees in nlp.get_pipe("lal_constituency").kbest(doc, ${trees}):`);
    lines.push("    print(*trees, sep=\"\\n\")");
  } else {
    const nlp = WITH_PIPELINE.includes(view) ? ", options={\"nlp\": nlp}" : "";
    const options = isTurned() ? ", options={\"turned\": True}" : nlp;
    lines.push("from spacy_lal import render", "", ...parse);
    lines.push(`picture = render(doc, style=${JSON.stringify(view)}${options}, jupyter=False)`);
  }
  if (query) {
    lines.splice(1, 0, "from spacy_lal.search import search");
    lines.push(`for match in search(doc, ${JSON.stringify(query)}):`, "    print(match.node, match.nodes)");
  }
  $("python").querySelector("code").textContent = lines.join("\n");
}

export function card() {
  const models = [page.state.model, page.state.other].filter(Boolean);
  const parts = models.flatMap((model) => {
    const about = page.about.cards[model];
    const rows = {
      version: about.version, language: about.lang, licence: about.license,
      components: about.components.join(", "),
      ...Object.fromEntries(Object.entries(about.scores).map(([name, score]) => [name, score.toFixed(2)])),
    };
    const list = Object.entries(rows).flatMap(([name, value]) => [make("dt", name), make("dd", value)]);
    return [make("p", [make("b", model), ` ${about.description}`]), make("dl", list)];
  });
  $("card").querySelector("div").replaceChildren(...parts);
}

// Copies and downloads

const svgs = () =>
  [...$("picture").querySelectorAll("svg")].map((svg) => {
    const copied = svg.cloneNode(true);
    copied.setAttribute("role", "img");
    for (const element of copied.querySelectorAll("[tabindex]")) {
      for (const name of ["tabindex", "role", "aria-expanded", "aria-label"]) element.removeAttribute(name);
    }
    return new XMLSerializer().serializeToString(copied);
  });

export async function copy(what, text) {
  try {
    await navigator.clipboard.writeText(text);
    $("copied").textContent = `${what} copied`;
  } catch {
    $("copied").textContent = "the browser does not let the page copy";
  }
}

export const copySvg = () => copy("SVG", svgs().join("\n"));

function save(blob, name) {
  const link = make("a", "", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  $("copied").textContent = `${name} saved`;
}

export function saveSvg() {
  svgs().forEach((svg, k) => save(new Blob([svg], { type: "image/svg+xml" }), `${page.state.view}${k || ""}.svg`));
}

// Twice as many pixels, for prints and screens of high density
export async function savePng() {
  for (const [k, svg] of svgs().entries()) {
    const image = new Image();
    image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(svg);
    await image.decode();
    const canvas = make("canvas");
    canvas.width = 2 * image.width;
    canvas.height = 2 * image.height;
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    const blob = await new Promise((done) => canvas.toBlob(done, "image/png"));
    save(blob, `${page.state.view}${k || ""}.png`);
  }
}
