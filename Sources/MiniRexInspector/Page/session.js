// A session is a file with the graph and the logs. An imported session replaces the program until "Back to live".
let imported = null;
function fromSession(store, number) {
  const file = imported.stores.find(other => other.update.id === store.id), place = file.commits.findIndex(({ commit }) => commit.number === number);
  if (place < 0) return `Commit ${shownNumber(store, number)} is not in the session.`;
  const values = new Map(file.state.map(({ path, value }) => [path, value]));
  for (const { changes } of file.commits.slice(place + 1).reverse()) {
    for (const { path, old } of changes ?? []) old === undefined ? values.delete(path) : values.set(path, old);
  }
  const { commit, changes } = file.commits[place];
  return { commit, changes: [...changes ?? []], areChangesLost: !changes, stateCount: Math.max(file.stateCount, values.size),
    state: [...values].map(([path, value]) => ({ path, value })) };
}

function reset() {
  stores.clear();
  $("stores").replaceChildren();
  shape = drawing = null;
  unfolded.clear();
  hasMoved = false;
}

function open(session) {
  events?.close();
  events = null;
  imported = session;
  reset();
  show({ graph: session.graph, stores: session.stores.map(({ update, commits }) => ({ ...update, commits: commits.map(({ commit }) => commit) })) }, true);
  $("state").className = "";
  $("state").textContent = `session of ${new Date(session.time * 1000).toLocaleString("en-GB")}`;
  $("live").hidden = false;
}

$("import").onclick = () => $("file").click();
$("file").onchange = async () => {
  const [file] = $("file").files;
  $("file").value = "";
  if (!file) return;
  try {
    const session = JSON.parse(await file.text());
    if (session.version !== 1 || !Array.isArray(session.stores) || !session.graph) throw new Error("another format");
    open(session);
  } catch (error) {
    if (imported) { imported = null; reset(); listen(); $("live").hidden = true; }
    $("state").textContent = `${file.name} is no session of an inspector`;
  }
};
$("live").onclick = () => {
  imported = null;
  $("live").hidden = true;
  reset();
  listen();
};
$("export").onclick = async () => {
  const session = imported ?? await fetch(address("/session")).then(answer => answer.ok ? answer.json() : null).catch(() => null);
  if (!session) { $("state").textContent = "The program does not respond."; return; }
  const link = make("a", { href: URL.createObjectURL(new Blob([JSON.stringify(session)], { type: "application/json" })),
    download: `inspector-${new Date(session.time * 1000).toISOString().slice(0, 19).replaceAll(":", "-")}.json` });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
};
