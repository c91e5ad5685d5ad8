// What a phrase, word, arc or role is: said below the picture, and lit up in all of it.
import { $, page } from "./state.js";

const PARTS = ".lal-node, .lal-word, .lal-arc, .lal-arg, .lal-token, .lal-role";

export function meaning(label) {
  const known = page.labels;
  return known[label] || known[label.split(/[-=|]/)[0]] || known[label.split(":")[0]] || "";
}

const withMeaning = (label) => {
  const means = meaning(label);
  return means ? `${label} (${means})` : label;
};

// The tokens of an element: an arc's are those of its dependent.
function tokens(element) {
  const { start, end, token } = element.dataset;
  const first = Number(token ?? start);
  return [first, token === undefined ? Number(end) : first + 1];
}

const isWord = (element) => element.matches(".lal-word, .lal-token");

export function light(target) {
  const part = target && target.closest(PARTS);
  for (const element of document.querySelectorAll(".lit")) element.classList.remove("lit");
  if (!part) return;
  const [start, end] = tokens(part);
  const head = Number(part.dataset.head ?? -1);
  for (const element of $("picture").querySelectorAll(PARTS)) {
    const [first, last] = tokens(element);
    const same = first === start && last === end;
    const within = start <= first && last <= end;
    const around = first <= start && end <= last;
    let lit = same;
    if (isWord(element)) lit = within || first === head;
    else if (isWord(part) && element.matches(".lal-node")) lit = around;
    else if (element.matches(".lal-arc")) lit = element === part || (isWord(part) && same);
    element.classList.toggle("lit", lit);
  }
  describe(part);
}

function describe(part) {
  const pane = part.closest(".pane");
  const answer = page.answers[[...pane.parentNode.children].indexOf(pane)];
  const record = answer.record;
  const [start, end] = tokens(part);
  const words = record.words.slice(start, end).join(" ");
  const { label, probability, score } = part.dataset;
  const lines = [];
  if (part.matches(".lal-node")) {
    lines.push(`${label}: ${words}`, label.split("›").map(withMeaning).join(" over "));
    if (probability !== undefined) lines.push(`probability ${Number(probability).toFixed(3)}`);
    const of = (answer.contributions || []).find((c) => c.start === start && c.end === end);
    if (of) {
      const said = of.heads.map(([head, share]) => `${head} (${(100 * share).toFixed(1)} %)`);
      lines.push(`heads that contribute most: ${said.join(", ")}`);
    }
  } else if (part.matches(".lal-arg, .lal-role")) {
    const title = part.querySelector("title")?.textContent || part.getAttribute("title");
    lines.push(title, meaning(label || title.split(/[ ,:]/)[0]));
  } else {
    const relation = record.relations?.[start];
    lines.push(words);
    if (record.tags?.[start]) lines[0] += `: ${withMeaning(record.tags[start])}`;
    if (relation) {
      const head = record.heads[start] === start ? "the root" : `of ${record.words[record.heads[start]]}`;
      lines.push(`${withMeaning(relation)} ${head}`);
    }
    const wrong = score ?? record.error_scores?.[start];
    if (wrong !== undefined) lines.push(`probability of an error ${Number(wrong).toFixed(3)}`);
  }
  $("details").textContent = lines.filter(Boolean).join("\n");
}

// Marks matches of the pattern in the picture of each answer.
export function markMatches() {
  const [answer] = page.answers;
  $("query-error").hidden = !answer.query_error;
  $("query-error").textContent = answer.query_error || "";
  $("found").textContent = "";
  if (!answer.matches) return;
  const said = answer.matches.slice(0, 12).map(({ start, end, names }) => {
    const of = (a, b) => answer.record.words.slice(a, b).join(" ");
    const named = names.map((n) => `${n.name} = ${of(n.start, n.end)}`);
    return `“${of(start, end)}”` + (named.length ? ` (${named.join(", ")})` : "");
  });
  const count = answer.matches.length;
  $("found").textContent = `${count || "no"} match${count === 1 ? "" : "es"}${count ? ": " : ""}${said.join("; ")}`;
  const pane = $("picture").firstChild;
  const places = answer.matches.flatMap((match) => [match, ...match.names]);
  for (const element of pane ? pane.querySelectorAll(PARTS) : []) {
    if (element.matches(".lal-arc")) continue;
    const [first, last] = tokens(element);
    const found = places.some(({ start, end }) =>
      isWord(element) ? start <= first && last <= end : first === start && last === end,
    );
    element.classList.toggle("found", found);
  }
}
