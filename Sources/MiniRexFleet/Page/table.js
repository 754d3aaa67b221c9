let shown = [], isAnswering = false, isLive = false, heard = performance.now(), pageTime = Date.now();

const isWanted = row => {
  const wanted = $("filter").value.trim().toLowerCase();
  return wanted === "" || `${row.key} ${row.fresh.report.version} ${row.word.textContent}`.toLowerCase().includes(wanted);
};

function arrange() {
  const wanted = [...rows.values()].filter(isWanted)
    .sort((one, other) => other.fresh.concern - one.fresh.concern || order.compare(one.key, other.key));
  if (wanted.length === shown.length && wanted.every((row, index) => row === shown[index])) return;
  // Moving an element takes the focus from it.
  const focused = document.activeElement, body = $("rows");
  for (const row of shown) if (!rows.has(row.id) || !isWanted(row)) row.element.remove();
  wanted.forEach((row, index) => {
    if (body.children[index] !== row.element) body.insertBefore(row.element, body.children[index] ?? null);
  });
  if (focused !== document.activeElement && body.contains(focused)) focused.focus({ preventScroll: true });
  shown = wanted;
}

function state(element, isGood, text) {
  element.className = isGood ? "state live" : "state";
  write(element, text);
}

function summarize() {
  const counts = [0, 0, 0, 0, 0, 0];
  for (const { fresh } of rows.values()) counts[fresh.concern] += 1;
  const names = ["", "with another version", "slow", "not ready", "wrong", "lost"];
  const parts = names.map((name, level) => level && counts[level] ? `${number(counts[level])} ${name}` : "").filter(Boolean).reverse();
  write($("summary"), rows.size ? [plural(rows.size, "process"), ...parts].join(", ") : "No processes yet");
}

function refresh() {
  const silence = performance.now() - heard, isFresh = isLive && silence < 5000, isFaded = !isFresh || !isAnswering;
  document.body.classList.toggle("faded", isFaded);
  state($("page"), isFresh, isFresh ? "page is live" : isLive ? "page does not respond" : "page is disconnected, trying again…");
  state($("server"), isAnswering && isFresh, !isFresh ? "NATS server is unknown" : isAnswering ? "NATS server answers" : "NATS server does not answer");
  // The clocks of the page's process and of the browser may differ.
  const time = pageTime + silence;
  for (const row of rows.values()) age(row, time, isFaded);
  arrange();
  summarize();
}

function show({ answers, refused, time, removed, rows: fresh }, isWhole) {
  if (isWhole) {
    const ids = new Set(fresh.map(({ id }) => id));
    removed = [...rows.keys()].filter(id => !ids.has(id));
  }
  for (const id of removed) { rows.get(id)?.element.remove(); rows.delete(id); }
  [isAnswering, isLive, heard, pageTime] = [answers, true, performance.now(), time];
  for (const row of fresh) update(row, time);
  $("refused").hidden = !refused;
  write($("refused"), `${number(refused)} reports were refused, because no member sends such reports or the list is full.`);
  refresh();
}

// A page in the browser's back cache closes its connection.
let events;
function listen() {
  events = new EventSource(address("events"));
  events.addEventListener("all", event => show(JSON.parse(event.data), true));
  events.addEventListener("changes", event => show(JSON.parse(event.data), false));
  events.onerror = () => {
    isLive = false;
    refresh();
    // The browser has given up, for example after 503.
    if (events.readyState === EventSource.CLOSED) setTimeout(listen, 1000);
  };
}
addEventListener("pageshow", listen);
addEventListener("pagehide", () => events?.close());
$("filter").oninput = arrange;
setInterval(() => { if (performance.now() - heard > 2000) refresh(); }, 1000);
