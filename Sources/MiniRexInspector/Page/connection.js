function show({ graph, stores }, isWhole) {
  if (graph) showGraph(graph);
  for (const store of stores) showStore(store, isWhole);
}

// A page in the browser's back cache closes its connection.
let events;
function listen() {
  if (imported) return;
  events = new EventSource(address("/events"));
  events.addEventListener("all", event => {
    show(JSON.parse(event.data), true);
    $("state").className = "live";
    $("state").textContent = "live";
  });
  events.addEventListener("changes", event => show(JSON.parse(event.data), false));
  events.onerror = () => {
    if (imported) return;
    $("state").className = "";
    $("state").textContent = "connection lost, trying again…";
    // The browser has given up, for example after 503.
    if (events?.readyState === EventSource.CLOSED) setTimeout(() => { if (!imported) listen(); }, 1000);
  };
}
addEventListener("pageshow", listen);
addEventListener("pagehide", () => events?.close());
