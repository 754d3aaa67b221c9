// Returns a commit with the state after it: from the program, or from an imported session.
async function load(store, number) {
  if (imported) return fromSession(store, number);
  const answer = await fetch(address(`/stores/${store.id}/commits/${number}`)).catch(() => null);
  if (answer?.ok) return answer.json();
  return answer ? `Commit ${shownNumber(store, number)} is no longer in the log.` : "The program does not respond.";
}

async function choose(store, number) {
  store.chosen = number;
  render(store);
  slide(store);
  const loaded = await load(store, number);
  if (store.chosen !== number) return;
  // A chosen commit stays when it has left the log.
  if (typeof loaded === "string" && store.detailed?.commit.number === number) return;
  store.base = null;
  showDetail(store, loaded);
}

function step(store, by) {
  const commits = [...store.shown].reverse(), later = commits.findIndex(({ number }) => number > store.chosen);
  const place = by > 0 ? later : commits.findLastIndex(({ number }) => number < store.chosen);
  if (place >= 0) reveal(store, commits.length - 1 - place);
}

function showDetail(store, loaded) {
  const focused = store.detail.contains(document.activeElement) ? document.activeElement.dataset.role : undefined;
  store.detailed = loaded && typeof loaded === "object" ? loaded : null;
  if (!store.detailed) {
    store.detail.replaceChildren(make("p", { className: "empty", textContent: loaded ?? "Choose a commit to see the state after it." }));
    return;
  }
  const { commit, changes, areChangesLost, state, stateCount } = loaded, number = shownNumber(store, commit.number);
  const button = (role, text, action) => { const made = make("button", { type: "button", textContent: text, onclick: action }); made.dataset.role = role; return made; };
  const copy = button("copy", "Copy JSON", async () => { write(copy, await copied(store) ? "Copied" : "Not copied"); });
  const compare = make("select");
  compare.dataset.role = "compare";
  const fill = () => compare.replaceChildren(make("option", { value: "", textContent: "the commit before" }),
    ...store.commits.filter(other => other.number !== commit.number).reverse().map(other =>
      make("option", { value: other.number, textContent: `commit ${shownNumber(store, other.number)}: ${short(title(other.cause), 40)}`, selected: other.number === store.base?.commit.number })));
  fill();
  compare.onpointerdown = () => { const { value } = compare; fill(); compare.value = value; };
  compare.onchange = async () => {
    const base = compare.value ? await load(store, Number(compare.value)) : null;
    if (store.detailed !== loaded) return;
    store.base = base && typeof base === "object" ? base : null;
    showDetail(store, loaded);
  };
  const detail = [make("div", { className: "head" }, make("h3", { textContent: `Commit ${number}` }),
    make("div", { className: "tools" }, button("previous", "Previous", () => step(store, -1)), button("next", "Next", () => step(store, 1)), copy)),
    make("p", { className: "cause-full", textContent: commit.cause }), make("label", {}, "Compare with", compare)];
  const warn = text => detail.push(make("p", { className: "warning", textContent: text }));
  const skipped = commit.number - commit.previous - 1;
  if (skipped > 0) warn(`The changes are those of ${skipped + 1} commits, because ${commit.cause === UNSEEN ? "no page was open" : commit.cause === TOO_MANY ? "recording each would exceed the inspector's share of a processor" : "the queue was full"}.`);
  if (commit.failure !== undefined) warn(`The state cannot be encoded: ${commit.failure}. The page shows the last encoded state.`);
  if (areChangesLost) warn(`The commit changed ${commit.changeCount} values, which exceeds the size limit.`);
  const shown = store.base ? between(store.base.state, state) : changes;
  const since = store.base ? ` since commit ${shownNumber(store, store.base.commit.number)}` : "";
  detail.push(make("h3", { textContent: shown.length ? `Changes${since}` : `No changes${since}` }));
  if (shown.length) detail.push(table(["Path", "Value"], shown.sort(byPath).map(change => make("tr", {}, heading(change.path), make("td", {}, ...difference(change))))));
  if (!store.base && commit.changeCount > changes.length) warn(`and ${commit.changeCount - changes.length} more`);
  const changed = new Set(shown.map(change => change.path));
  detail.push(make("h3", { textContent: "State after the commit" }));
  detail.push(table(["Path", "Value"], state.sort(byPath).map(({ path, value }) =>
    make("tr", { className: changed.has(path) ? "changed" : "" }, heading(path), make("td", { textContent: value })))));
  if (stateCount > state.length) warn(`and ${stateCount - state.length} more`);
  store.detail.replaceChildren(...detail);
  if (focused) store.detail.querySelector(`[data-role=${focused}]`)?.focus({ preventScroll: true });
}

function between(before, after) {
  const values = new Map(before.map(({ path, value }) => [path, value])), changes = [];
  for (const { path, value } of after) {
    if (values.get(path) !== value) changes.push({ path, old: values.get(path), new: value });
    values.delete(path);
  }
  for (const [path, old] of values) changes.push({ path, old });
  return changes;
}

const heading = path => make("th", { scope: "row", textContent: path || "(root)" });
function table(names, rows) {
  return make("table", {},
    make("thead", {}, make("tr", {}, ...names.map(name => make("th", { scope: "col", textContent: name })))),
    make("tbody", {}, ...rows));
}

const parsed = value => { if (value === undefined) return undefined; try { return JSON.parse(value); } catch { return value; } };
async function copied(store) {
  const { commit, changes, state } = store.detailed;
  const text = JSON.stringify({ store: store.name, number: shownNumber(store, commit.number), time: new Date(commit.time * 1000).toISOString(), cause: commit.cause,
    changes: changes.map(change => ({ path: change.path, old: parsed(change.old), new: parsed(change.new) })),
    state: Object.fromEntries(state.map(({ path, value }) => [path, parsed(value)])) }, null, 2);
  try { await navigator.clipboard.writeText(text); return true; } catch {}
  // The clipboard needs HTTPS at an address of another machine.
  const area = make("textarea", { value: text, className: "hide" });
  document.body.append(area);
  area.select();
  const isDone = document.execCommand("copy");
  area.remove();
  return isDone;
}
