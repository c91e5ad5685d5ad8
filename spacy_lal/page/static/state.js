// The state of the page, which stands in the fragment of its address: browsers don't send it.
export const $ = (id) => document.getElementById(id);
export const EXAMPLES = {
  Attachment: "I saw the man with the old telescope.",
  Passive: "The letter that you asked for was sent on Monday by my sister.",
  Question: "Which of the two proposals do you think the board will accept?",
  Learner: "He go to school every day, because he want to learning English.",
  News: "The company said it had misled investors about the price of its new drug.",
  Long:
    "When the old harbour master finally opened the letter that his daughter had sent from Lisbon " +
    "in the spring, he sat down on the stone wall, read it twice without a word, and then asked " +
    "the boys who were mending nets whether anyone still sailed there in winter.",
};

// about: what the server says of its pipelines; answers: of the shown pipelines
export const page = { about: null, labels: {}, answers: [], state: null };

export function make(tag, content = "", attributes = {}) {
  const made = document.createElement(tag);
  made.append(...[content].flat());
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

export const viewsOf = (model) => page.about.models[model];

export function fromAddress() {
  const given = new URLSearchParams(location.hash.slice(1));
  const models = Object.keys(page.about.models);
  const model = models.includes(given.get("model")) ? given.get("model") : models[0];
  const views = viewsOf(model);
  const other = given.get("other");
  const trees = Math.round(Number(given.get("trees")) || 3);
  const threshold = given.has("threshold") ? Number(given.get("threshold")) : null;
  return {
    model,
    other: models.includes(other) ? other : "",
    view: views.includes(given.get("view")) ? given.get("view") : views[0] || "",
    trees: Math.min(Math.max(trees, 2), page.about.max_trees),
    threshold: threshold >= 0 && threshold <= 1 ? threshold : null,
    query: given.get("query") || "",
    text: given.has("text") ? given.get("text") : EXAMPLES.Attachment,
  };
}

export function toAddress(how) {
  const { model, other, view, trees, threshold, query, text } = page.state;
  const said = new URLSearchParams({ model, view });
  if (other) said.set("other", other);
  if (view === "kbest") said.set("trees", trees);
  if (threshold !== null) said.set("threshold", threshold);
  if (query) said.set("query", query);
  said.set("text", text);
  const hash = "#" + said;
  if (hash !== location.hash) history[how + "State"](null, "", hash);
}
