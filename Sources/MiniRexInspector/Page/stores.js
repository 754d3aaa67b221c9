// The stores, by number.
const stores = new Map();
let announced = 0;

function enter({ id, name }) {
  const store = { id, name, commits: [], shown: [], number: 0, earlier: 0, chosen: null, detailed: null, base: null, isPaused: false, rows: [], numberLength: 6,
    spans: new Map(), bars: new Map(), jobs: [] };
  const button = (text, label, action) => Object.assign(control("button", label, { type: "button", textContent: text }), { onclick: action });
  store.list = control("div", `Commits of ${name}, newest first`, { className: "commits", tabIndex: 0 });
  store.list.setAttribute("role", "listbox");
  store.tall = make("div");
  store.empty = make("p", { className: "empty" });
  store.list.append(store.empty, store.tall);
  store.detail = control("div", `A commit of ${name}`, { className: "detail", tabIndex: 0 });
  store.detail.setAttribute("role", "region");
  store.counts = make("span", { className: "counts" });
  store.effects = control("div", `Running effects of ${name}`, { className: "effects", tabIndex: 0 });
  store.effects.setAttribute("role", "region");
  store.window = control("select", `Time span of the effects of ${name}`);
  store.window.append(...[[10, "10 seconds"], [60, "1 minute"], [600, "10 minutes"]].map(([value, textContent]) => make("option", { value, textContent, selected: value === 60 })));
  store.window.onchange = () => showSpans(store);
  store.period = make("span", { className: "counts" });
  store.lanes = control("div", `Beginnings and ends of the effects of ${name}`, { className: "lanes", tabIndex: 0 });
  store.lanes.setAttribute("role", "region");
  store.track = make("div", { className: "track" });
  store.lanes.onclick = event => { const bar = event.target.closest(".span"); if (bar) choose(store, Number(bar.dataset.commit)); };
  store.jobLists = control("div", `Jobs of ${name}`, { className: "jobs", tabIndex: 0, hidden: true });
  store.jobLists.setAttribute("role", "region");
  store.scopes = make("summary");
  store.scopeList = control("div", `Scopes of ${name}`, { className: "list", tabIndex: 0 });
  store.scopeList.setAttribute("role", "region");
  store.pause = button("Pause", `Pause the list of ${name}`, () => {
    store.isPaused = !store.isPaused;
    store.pause.setAttribute("aria-pressed", store.isPaused);
    refresh(store);
  });
  store.pause.setAttribute("aria-pressed", false);
  store.byAction = control("input", `Filter the commits of ${name} by action`, { type: "search", placeholder: "Action contains", className: "by-action" });
  store.byPath = control("input", `Filter the commits of ${name} by path`, { type: "search", placeholder: "Path contains", className: "by-path" });
  store.byAction.oninput = store.byPath.oninput = () => { store.list.scrollTop = 0; refresh(store, true); };
  store.slider = control("input", `State of ${name} after a commit`, { type: "range", min: 0, max: 0, value: 0 });
  store.slider.oninput = () => { const commit = store.commits[store.slider.value]; if (commit) choose(store, commit.number); };
  store.at = make("output");
  const section = make("section", { className: "store" },
    make("div", { className: "head" }, make("h2", { id: `store-${id}`, textContent: name }), store.counts,
      make("div", { className: "tools" }, store.byAction, store.byPath, store.pause)),
    store.effects, make("div", { className: "over-time" }, make("div", { className: "head" }, make("h3", { textContent: "Effects over time" }), store.period,
      make("div", { className: "tools" }, store.window)), store.lanes),
    store.jobLists,
    make("details", { className: "scopes" }, store.scopes, store.scopeList), make("div", { className: "slider" }, store.slider, store.at),
    make("div", { className: "columns" }, store.list, store.detail));
  section.setAttribute("aria-labelledby", `store-${id}`);
  $("stores").append(section);
  store.list.onscroll = () => render(store);
  store.list.onclick = event => { const row = event.target.closest(".row"); if (row) choose(store, Number(row.dataset.number)); };
  store.list.onkeydown = event => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const place = store.shown.findIndex(({ number }) => number === store.chosen), last = store.shown.length - 1;
    const to = { ArrowDown: place + 1, ArrowUp: place < 0 ? 0 : place - 1, PageDown: Math.max(0, place) + 8, PageUp: place - 8, Home: 0, End: last,
      Enter: Math.max(0, place) }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    reveal(store, Math.min(last, Math.max(0, to)));
  };
  new ResizeObserver(() => render(store)).observe(store.list);
  showDetail(store, null);
  showScopes(store, []);
  stores.set(id, store);
  return store;
}

const shownNumber = (store, number) => number + store.earlier;

function showStore(update, isWhole) {
  const store = stores.get(update.id) ?? enter(update);
  if (isWhole) { store.commits = []; store.number = 0; store.spans.clear(); }
  store.earlier = update.earlierCommits ?? 0;
  const counts = update.counts, number = shownNumber(store, update.number);
  const parts = counts ? [`commit ${number}`, plural(counts.subscribers, "subscriber"), plural(counts.effects, "effect")] : ["the store is deallocated"];
  const text = parts.join(", ") + (counts?.pending ? `, ${counts.pending} pending` : "");
  write(store.counts, text);
  const fresh = update.commits.filter(commit => commit.number > store.number);
  store.number = update.number;
  store.commits.push(...fresh);
  const gone = store.commits.findIndex(commit => commit.number >= update.first);
  if (gone > 0) store.commits.splice(0, gone);
  store.running = update.effects ?? [];
  for (const span of update.spans ?? []) store.spans.set(span.number, span);
  if (update.jobs) { store.jobs = update.jobs; showJobs(store); }
  if (update.scopes) showScopes(store, update.scopes);
  showEffects(store);
  showSpans(store);
  refresh(store);
  // Announce at most one commit in five seconds to screen readers.
  if (fresh.length && !isWhole && performance.now() - announced > 5000) {
    announced = performance.now();
    $("news").textContent = `${store.name}: commit ${number}`;
  }
}
