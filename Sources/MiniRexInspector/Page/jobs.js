// The performed jobs, with their ages.
function showJobs(store) {
  const now = imported?.time ?? Date.now() / 1000;
  store.jobLists.hidden = !store.jobs.length;
  const lists = store.jobs.map(({ path, pending, waiting, running, failed, jobs }) => {
    const total = pending + waiting + running + failed, rows = jobs.map(job => {
      const row = make("tr", { className: job.condition });
      const wait = job.notBefore === undefined ? 0 : job.notBefore - now;
      const texts = [job.id, job.condition, job.attempts, wait > 0 ? `starts in ${age(wait)}` : age(Math.max(0, now - job.since)), job.failure ?? ""];
      row.append(...texts.map(textContent => make("td", { textContent })));
      return row;
    });
    const head = make("tr");
    head.append(...["Job", "Condition", "Attempts", "Age", "Last failure"].map(textContent => make("th", { textContent, scope: "col" })));
    const table = make("table", {}, make("thead", {}, head), make("tbody", {}, ...rows));
    table.setAttribute("aria-label", `Jobs at ${path} of ${store.name}`);
    const counts = `${pending} pending, ${running} running, ${waiting} waiting, ${failed} failed${total > jobs.length ? `, ${jobs.length} shown` : ""}`;
    return make("div", {}, make("div", { className: "head" }, make("h3", { textContent: `Jobs at ${path}` }), make("span", { className: "counts", textContent: counts })),
      ...jobs.length ? [table] : []);
  });
  store.jobLists.replaceChildren(...lists);
}
setInterval(() => {
  if (imported || document.hidden) return;
  for (const store of stores.values()) if (store.jobs.length && !store.jobLists.contains(document.getSelection()?.anchorNode)) showJobs(store);
}, 1000);
