// The list of commits has rows of one height, which take new texts instead of moving.
const ROW = 50;
const UNSEEN = "while no page was open", TOO_MANY = "too many commits to record each";

function reveal(store, place) {
  const commit = store.shown[place];
  if (!commit) return;
  const top = place * ROW;
  if (top < store.list.scrollTop) store.list.scrollTop = top;
  if (top + ROW > store.list.scrollTop + store.list.clientHeight) store.list.scrollTop = top + ROW - store.list.clientHeight;
  choose(store, commit.number);
}

function matches(store, commit) {
  const [action, path] = [store.byAction, store.byPath].map(({ value }) => value.trim().toLowerCase());
  return commit.cause.toLowerCase().includes(action)
    && (!path || commit.changes.some(change => change.path.toLowerCase().includes(path)) || commit.paths.some(other => other.toLowerCase().includes(path)));
}

// Selects the commits of the list. A paused list keeps its commits.
function refresh(store, isFiltered = false) {
  if (store.isPaused && !store.kept) store.kept = [...store.commits];
  if (!store.isPaused) store.kept = null;
  const newest = store.shown[0]?.number ?? 0, from = store.kept ?? store.commits;
  store.shown = from.filter(commit => matches(store, commit)).reverse();
  store.tall.style.height = `${store.shown.length * ROW}px`;
  // A list that is scrolled down keeps its visible commits in place.
  if (store.list.scrollTop > 0 && !isFiltered) store.list.scrollTop += ROW * Math.max(0, store.shown.findIndex(({ number }) => number <= newest));
  store.empty.hidden = store.shown.length > 0;
  store.empty.textContent = from.length ? "No commit matches." : "No commits yet.";
  const waiting = store.kept ? store.commits.filter(({ number }) => number > (store.kept.at(-1)?.number ?? 0)).length : 0;
  write(store.pause, !store.isPaused ? "Pause" : waiting ? `Resume (${waiting} new)` : "Resume");
  render(store);
  slide(store);
}

function slide(store) {
  const last = Math.max(0, store.commits.length - 1), place = store.commits.findIndex(({ number }) => number === store.chosen);
  store.slider.max = last;
  store.slider.disabled = !store.commits.length;
  store.slider.value = place >= 0 ? place : store.chosen === null ? last : 0;
  const text = store.chosen === null ? store.commits.length ? `now, commit ${shownNumber(store, store.commits[last].number)}` : "now" : `commit ${shownNumber(store, store.chosen)}`;
  write(store.at, text);
  store.slider.setAttribute("aria-valuetext", text);
}

function render(store) {
  const first = Math.max(0, Math.floor(store.list.scrollTop / ROW)), count = Math.ceil(store.list.clientHeight / ROW) + 1;
  while (store.rows.length < count) {
    const row = { number: make("span", { className: "number" }), cause: make("span", { className: "cause" }), time: make("time"), diff: make("div", { className: "diff" }) };
    row.element = make("div", { className: "row" }, make("div", { className: "line" }, row.number, row.cause, row.time), row.diff);
    row.element.setAttribute("role", "option");
    store.rows.push(row);
    store.tall.append(row.element);
  }
  store.list.removeAttribute("aria-activedescendant");
  store.rows.forEach((row, index) => {
    // A row keeps its place in the list while the list scrolls.
    const place = first + (index - first % store.rows.length + store.rows.length) % store.rows.length, commit = store.shown[place];
    row.element.hidden = !commit;
    if (!commit) return;
    const isChosen = commit.number === store.chosen;
    if (row.place !== place) row.element.style.top = `${place * ROW}px`;
    row.place = place;
    row.element.setAttribute("aria-selected", isChosen);
    row.element.id = `commit-${store.id}-${commit.number}`;
    if (isChosen) store.list.setAttribute("aria-activedescendant", row.element.id);
    if (row.commit === commit) return;
    row.commit = commit;
    row.element.dataset.number = commit.number;
    row.element.setAttribute("aria-posinset", place + 1);
    row.element.setAttribute("aria-setsize", store.shown.length);
    const number = shownNumber(store, commit.number), skips = commit.number - commit.previous > 1 && commit.cause !== UNSEEN;
    row.number.textContent = skips ? `${shownNumber(store, commit.previous + 1)}–${number}` : number;
    // After the first range, all rows have room for one, so that new texts move no action.
    if (row.number.textContent.length > store.numberLength) {
      store.numberLength = row.number.textContent.length;
      store.list.style.setProperty("--numbers", `${store.numberLength}ch`);
    }
    row.cause.textContent = title(commit.cause);
    row.cause.title = commit.cause === row.cause.textContent ? "" : short(commit.cause, 400);
    row.time.textContent = clock.format(commit.time * 1000);
    row.time.dateTime = new Date(commit.time * 1000).toISOString();
    const parts = [], more = commit.changeCount - 1;
    if (commit.failure !== undefined) parts.push(make("span", { className: "failure", textContent: `cannot be encoded: ${commit.failure}` }));
    else if (!commit.changeCount) parts.push("no changes");
    else if (commit.changes.length) parts.push(`${commit.changes[0].path}: `, ...difference(commit.changes[0]), more > 0 ? ` and ${more} more` : "");
    else parts.push(plural(commit.changeCount, "changed value"));
    row.diff.replaceChildren(...parts);
  });
}
