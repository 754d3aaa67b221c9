// The running effects, with their ages, and the effects over time.
const age = seconds => seconds < 60 ? `${seconds.toFixed(1)} s` : seconds < 3600 ? `${Math.floor(seconds / 60)} min ${Math.floor(seconds % 60)} s` : `${(seconds / 3600).toFixed(1)} h`;
function showEffects(store) {
  const key = JSON.stringify(store.running.map(effect => [effect.number, effect.isCancelled, effect.start !== undefined]));
  if (key !== store.effectsKey) {
    store.effectsKey = key;
    store.ages = store.running.map(() => make("span", { className: "age" }));
    const chips = store.running.map((effect, index) => {
      const commit = make("button", { type: "button", textContent: `commit ${shownNumber(store, effect.commit)}` });
      commit.onclick = () => choose(store, effect.commit);
      const time = document.createTextNode("");
      store.ages[index] = time;
      return make("span", {}, `${effect.name ?? `effect ${effect.number}`}${effect.isCancelled ? ", canceled" : ""}, `, time, commit);
    });
    store.effects.replaceChildren(...chips.length ? chips : ["No effect is running."]);
  }
  store.running.forEach((effect, index) => {
    const text = effect.start === undefined ? "not started" : age(Math.max(0, (imported?.time ?? Date.now() / 1000) - effect.start));
    if (store.ages[index].data !== text) store.ages[index].data = text;
  });
}
setInterval(() => {
  if (imported || document.hidden) return;
  for (const store of stores.values()) {
    if (store.running?.length) showEffects(store);
    if (store.spans.size) showSpans(store);
  }
}, 500);

// The effects in the chosen time span. Each name has lanes, in which an effect takes the first free one.
const LANE = 24, LANES = 4, KEPT = 100;
function showSpans(store) {
  const now = imported?.time ?? Date.now() / 1000, length = Number(store.window.value), from = now - length;
  const all = [...store.spans.values()].sort((one, other) => one.number - other.number);
  for (const span of all) {
    if (store.spans.size <= KEPT) break;
    if (span.end !== undefined) store.spans.delete(span.number);
  }
  const shown = all.filter(span => store.spans.has(span.number) && (span.end === undefined || span.end >= from) && span.start <= now + 5);
  const names = new Map();
  for (const span of shown) {
    const name = span.name ?? "unnamed";
    if (!names.has(name)) names.set(name, []);
    const lanes = names.get(name), least = length / 40;
    let lane = lanes.findIndex(end => end <= span.start);
    if (lane < 0) lane = lanes.length < LANES ? lanes.length : LANES - 1;
    lanes[lane] = Math.max(span.end ?? Infinity, span.start + least);
    span.lane = lane;
  }
  const key = JSON.stringify([...names].map(([name, lanes]) => [name, lanes.length])), tops = new Map();
  let top = 2;
  for (const [name, lanes] of names) { tops.set(name, top); top += lanes.length * LANE; }
  if (key !== store.lanesKey) {
    store.lanesKey = key;
    const labels = [...tops].map(([name, top]) => { const label = make("div", { className: "lane", textContent: name, title: name }); label.style.top = `${top}px`; return label; });
    store.lanes.replaceChildren(...names.size ? labels : [make("p", { textContent: "No effect has run in this time span." })], store.track);
    store.track.style.height = `${top}px`;
  }
  const gone = new Set(store.bars.keys());
  for (const span of shown) {
    gone.delete(span.number);
    let bar = store.bars.get(span.number);
    if (!bar) {
      bar = make("button", { type: "button" });
      store.bars.set(span.number, bar);
      store.track.append(bar);
    }
    const left = Math.max(0, (span.start - from) / length * 100), right = Math.min(100, ((span.end ?? now) - from) / length * 100);
    Object.assign(bar.style, { left: `min(${left.toFixed(2)}%, 100% - 8px)`, width: `${Math.max(0, right - left).toFixed(2)}%`, top: `${tops.get(span.name ?? "unnamed") + span.lane * LANE}px` });
    const outcome = span.outcome ?? "runs", commit = `commit ${shownNumber(store, span.commit)}`;
    const kind = outcome.startsWith("failed") ? "failed" : outcome.startsWith("ended") ? "unseen" : outcome;
    if (bar.className !== `span ${kind}`) bar.className = `span ${kind}`;
    const text = `${span.name ?? `effect ${span.number}`}, ${commit}, began at ${clock.format(span.start * 1000)}, ${span.end === undefined ? "runs" : `${outcome} after ${age(span.end - span.start)}`}`;
    if (bar.title !== text) { bar.title = text; bar.setAttribute("aria-label", text); bar.dataset.commit = span.commit; }
    write(bar, right - left > 12 ? commit : "");
  }
  for (const number of gone) { store.bars.get(number).remove(); store.bars.delete(number); }
  write(store.period, shown.length ? `${plural(shown.length, "effect")}, ${clock.format(from * 1000)} – ${clock.format(now * 1000)}` : "");
}
