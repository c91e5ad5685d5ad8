// Pictures: parsed as XML, never as HTML from strings; sizes, and folding of phrases.
import { $, make, page, viewsOf } from "./state.js";

const XHTML = "http://www.w3.org/1999/xhtml";
const SVG = "http://www.w3.org/2000/svg";
const RULE = "#8592a3"; // of lines, as in pictures
let turn = null; // null: pictures that are wider than the page are turned

function parsed(picture) {
  const wrapped = `<div xmlns="${XHTML}">${picture}</div>`;
  const found = new DOMParser().parseFromString(wrapped, "application/xml").documentElement;
  if (found.querySelector("parsererror") || found.nodeName === "parsererror") throw new Error("no XML");
  return [...found.childNodes].map((node) => document.importNode(node, true));
}

const widthOf = (picture) => Number((/ width='([\d.]+)'/.exec(picture) || [0, 0])[1]);

let made = {}; // the views of the answers, by name
let waiting = null; // the timer that lays out those not yet seen

// Forgets earlier answers' views, or makes new ones: the shown one at once, others when it is there.
export function draw() {
  clearTimeout(waiting);
  made = {};
  $("pictures").replaceChildren();
  const views = page.answers.length ? viewsOf(page.state.model) : [];
  const next = () => {
    const view = views.find((name) => !made[name]);
    if (view) {
      lay(view);
      waiting = setTimeout(next);
    }
  };
  if (page.answers.length) {
    switchTo(page.state.view);
    waiting = setTimeout(next, 100);
  }
}

// The shown view has the name "picture"; hidden ones keep their layout, so that this takes no time.
export function switchTo(view) {
  if (!made[view]) lay(view);
  for (const [name, { element }] of Object.entries(made)) {
    if (name === view) element.id = "picture";
    else element.removeAttribute("id");
  }
  const { element, turned } = made[view];
  $("turn").hidden = turned === undefined;
  $("turn").setAttribute("aria-pressed", String(Boolean(turned)));
  $("sizes").hidden = !element.querySelector("svg");
  $("unfold").hidden = !element.querySelector(".folded");
  for (const pane of element.children) rootInView(pane);
}

// Adds a view of each answer, whose pipeline may lack it.
function lay(view) {
  const { answers } = page;
  const beside = answers.length > 1;
  const element = make("div", [], { class: beside ? "view beside" : "view" });
  made[view] = { element };
  for (const answer of answers) {
    const pane = make("div", [], { class: "pane" });
    if (beside) {
      pane.append(make("h2", answer.model));
      pane.tabIndex = 0; // it scrolls by itself
    }
    pane.append(...drawn(answer, view, beside));
    element.append(pane);
  }
  for (const node of element.querySelectorAll(".lal-node")) {
    node.setAttribute("tabindex", "0");
    // boxes contain each other, as buttons may not
    if (node.localName === "g") node.setAttribute("role", "button");
    sayFolded(node, false);
  }
  // an image may not contain buttons
  for (const svg of element.querySelectorAll("svg:has(.lal-node)")) svg.setAttribute("role", "group");
  $("pictures").append(element);
}

function drawn(answer, view, beside) {
  if (view === "kbest" && answer.kbest) return sideBySide(answer);
  const across = answer.pictures[view];
  if (across === undefined) return [make("p", `${answer.model} does not show this.`, { class: "why" })];
  const down = answer.turned[view];
  const place = $("pictures");
  // before the first answer the place itself takes no room
  const width = place.clientWidth || place.parentElement.clientWidth;
  const room = width / (beside && innerWidth > 600 ? 2 : 1);
  const turned = Boolean(down) && (turn ?? widthOf(across) > room);
  if (down) made[view].turned = turned;
  return parsed(turned ? down : across);
}

export function turnOver() {
  turn = $("turn").getAttribute("aria-pressed") !== "true";
  draw();
}

export const isTurned = () => !$("turn").hidden && $("turn").getAttribute("aria-pressed") === "true";

function sideBySide(answer) {
  const byParts = page.about.by_parts.includes(answer.model);
  return answer.kbest.flatMap((trees) => {
    const same = trees.findIndex((tree) => !tree.differs.length);
    const which = same < 0 ? "none of these" : `number ${same + 1}`;
    let why = `The parser's own tree is ${which}`;
    if (same === 0) why += ", the most probable whole tree.";
    else if (byParts) {
      why += ": it takes the phrases that are most probable one by one (minimum Bayes risk), not the most probable whole tree.";
    } else why += ".";
    const figures = trees.map((tree, k) => {
      const probability = (100 * Math.exp(tree.log_prob)).toFixed(1);
      const lines = [`${k + 1}: probability ${probability} %`];
      lines.push(...(tree.differs.length ? tree.differs : ["the parser's own"]));
      return make("figure", [make("figcaption", lines.join("\n")), ...parsed(tree.picture)]);
    });
    const line = make("p", why, { class: "why" });
    return [line, make("div", figures, { class: "best" })];
  });
}

function rootInView(pane) {
  const root = pane.querySelector("svg .lal-node");
  if (!root) return;
  const scrolled = pane.parentNode.classList.contains("beside") ? pane : $("pictures");
  const place = root.getBoundingClientRect();
  const room = scrolled.getBoundingClientRect();
  scrolled.scrollLeft += place.x + place.width / 2 - room.x - room.width / 2;
  scrolled.scrollTop += place.y + place.height / 2 - room.y - room.height / 2;
}

const natural = (svg) => svg.getAttribute("viewBox").split(" ").slice(2).map(Number);

function resize(scaled) {
  for (const svg of $("picture").querySelectorAll("svg")) {
    const [width, height] = natural(svg);
    const scale = Math.min(Math.max(scaled(svg, width), 0.25), 3);
    svg.setAttribute("width", width * scale);
    svg.setAttribute("height", height * scale);
  }
}

export const zoom = (factor) => resize((svg, width) => (svg.getAttribute("width") / width) * factor);

export const fit = () => resize((svg, width) => Math.min(1, (svg.closest(".pane").clientWidth - 4) / width));

// Folding

const range = (element) => [Number(element.dataset.start), Number(element.dataset.end)];

export function fold(node, folded = !node.classList.contains("folded")) {
  node.classList.toggle("folded", folded);
  sayFolded(node, folded);
  const svg = node.closest("svg");
  if (svg) hideFolded(svg);
  $("unfold").hidden = !$("picture").querySelector(".folded");
}

function sayFolded(node, folded) {
  if (node.getAttribute("role") !== "button") return;
  node.setAttribute("aria-expanded", String(!folded));
  node.setAttribute("aria-label", `${node.dataset.label}: ${folded ? "unfold" : "fold"}`);
}

export function unfold() {
  for (const node of $("picture").querySelectorAll(".folded")) fold(node, false);
}

// A parent stands before the phrases below it.
function hideFolded(svg) {
  const roofs = [];
  for (const element of svg.querySelectorAll(".lal-node, .lal-edge, .lal-stem")) {
    element.removeAttribute("display");
  }
  for (const node of svg.querySelectorAll(".lal-node.folded")) {
    if (node.hasAttribute("display")) continue;
    const [start, end] = range(node);
    for (const other of svg.querySelectorAll(".lal-node, .lal-edge, .lal-stem")) {
      const [first, last] = range(other);
      const smaller = last - first < end - start || other.classList.contains("lal-stem");
      if (start <= first && last <= end && smaller) other.setAttribute("display", "none");
    }
    roofs.push(roof(svg, node));
  }
  for (const old of svg.querySelectorAll(".roof")) old.remove();
  svg.append(...roofs);
}

function roof(svg, node) {
  const [start, end] = range(node);
  const chip = node.querySelector("rect").getBBox();
  const first = svg.querySelector(`.lal-word[data-start="${start}"]`).getBBox();
  const last = svg.querySelector(`.lal-word[data-end="${end}"]`).getBBox();
  let points = [];
  if (first.y > chip.y + chip.height) {
    const left = Math.min(first.x, last.x);
    const right = Math.max(first.x + first.width, last.x + last.width);
    points = [chip.x + chip.width / 2, chip.y + chip.height, right, first.y - 1, left, first.y - 1];
  } else {
    const [x, right] = [first.x - 3, chip.x + chip.width];
    points = [right, chip.y + chip.height / 2, x, first.y, x, last.y + last.height];
  }
  const drawnRoof = document.createElementNS(SVG, "polygon");
  drawnRoof.setAttribute("class", "roof");
  drawnRoof.setAttribute("points", points.join(" "));
  drawnRoof.setAttribute("fill", "none");
  drawnRoof.setAttribute("stroke", RULE);
  return drawnRoof;
}
