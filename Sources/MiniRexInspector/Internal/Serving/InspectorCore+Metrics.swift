internal import Foundation
internal import MiniRex
internal import MiniRexPageServer
internal import MiniRexStore

/// A condition of `/ready` or `/live`.
struct Condition: Sendable {
  let name: String
  let isMet: @Sendable () -> Bool
}

/// A source of values of the program.
struct Measurement: Sendable {
  let source: String
  let metrics: @Sendable () -> [InspectorMetric]
}

extension InspectorCore {
  func metrics() -> Reply {
    var text = MetricsText()
    addSources(to: &text)
    addStores(to: &text)
    addMeasurements(to: &text)
    return .content(MetricsText.type, Data(text.text.utf8))
  }

  /// Answers 200 if all conditions are met, and otherwise 503 with the names of the conditions that are not met.
  func answer(_ word: String, _ conditions: [Condition]) -> Reply {
    let unmet = conditions.filter { !$0.isMet() }.map(\.name)
    if unmet.isEmpty { return .content("text/plain; charset=utf-8", Data("\(word)\n".utf8)) }
    return .status(.unavailable, because: "not \(word): \(unmet.joined(separator: ", "))")
  }

  private func addSources(to text: inout MetricsText) {
    let totals = graph.totals().map { sum -> (labels: MetricsText.Labels, sum: LiveGraph.Totals) in
      let place = sum.key.place?.description ?? ""
      return ([("source", sum.key.name), ("place", place), ("role", "\(sum.key.role)")], sum)
    }.sorted { $0.labels.map(\.value).lexicographicallyPrecedes($1.labels.map(\.value)) }
    func add(
      _ name: String, _ kind: MetricsText.Kind, _ help: String,
      _ value: (LiveGraph.Totals) -> Int
    ) {
      text.add(name, kind, help, totals.map { ($0.labels, value($0.sum)) })
    }
    add("minirex_sources", .gauge, "Sources that have not finished.", \.nodeCount)
    add("minirex_subscribers", .gauge, "Active subscriptions.", \.subscriberCount)
    add("minirex_deliveries_total", .counter, "Updates that subscribers received.", \.deliveryCount)
    add(
      "minirex_dropped_updates_total", .counter,
      "Updates that a full buffer or a finished source dropped.", \.droppedCount)
    add(
      "minirex_pending_updates", .gauge, "Updates that wait for the delivering thread.",
      \.pendingUpdates)
    add(
      "minirex_buffered_updates", .gauge, "Updates that wait for a loop, a queue, or an actor.",
      \.bufferedUpdates)
  }

  private func addMeasurements(to text: inout MetricsText) {
    // Each family is written once, with the series of all sources.
    var families: [(metric: InspectorMetric, series: [(MetricsText.Labels, Double)])] = []
    for measurement in measurements {
      for metric in measurement.metrics() {
        let series = ([("name", measurement.source)] as MetricsText.Labels, metric.value)
        if let index = families.firstIndex(where: { $0.metric.name == metric.name }) {
          families[index].series.append(series)
        } else {
          families.append((metric, [series]))
        }
      }
    }
    for (metric, series) in families {
      text.add(metric.name, metric.kind == .counter ? .counter : .gauge, metric.help, series)
    }
  }

  private func addJobs(to text: inout MetricsText) {
    let places = stores.enumerated().flatMap { id, store in
      store.jobTotals.map { jobs -> (labels: MetricsText.Labels, jobs: JobsInspection) in
        ([("store", store.name), ("id", "\(id)"), ("jobs", jobs.path)], jobs)
      }
    }
    text.add(
      "minirex_jobs", .gauge, "Jobs by their condition.",
      places.flatMap { labels, jobs in
        [
          ("pending", jobs.counts.pending), ("waiting", jobs.counts.waiting),
          ("running", jobs.counts.running), ("failed", jobs.counts.failed),
        ].map { (labels: labels + [("state", $0)], value: $1) }
      })
    text.add(
      "minirex_job_attempts_total", .counter, "Attempts that began.",
      places.map { (labels: $0, value: $1.attempts) })
    text.add(
      "minirex_job_failures_total", .counter, "Attempts that failed.",
      places.map { (labels: $0, value: $1.failures) })
  }

  private func addStores(to text: inout MetricsText) {
    let stores = stores.enumerated().compactMap {
      id, store -> (labels: MetricsText.Labels, totals: WatchedStore.Totals)? in
      guard let totals = store.totals else { return nil }
      return ([("store", store.name), ("id", "\(id)")], totals)
    }
    func add(
      _ name: String, _ kind: MetricsText.Kind, _ help: String,
      _ value: (WatchedStore.Totals) -> Int
    ) {
      text.add(name, kind, help, stores.map { ($0.labels, value($0.totals)) })
    }
    add("minirex_store_commits_total", .counter, "Commits of the store.", \.commits)
    add("minirex_store_effects_total", .counter, "Effects that reducers returned.", \.effects)
    add("minirex_store_running_effects", .gauge, "Unfinished effects.", \.runningEffects)
    add(
      "minirex_store_pending_events", .gauge, "Events that wait for the delivering thread.",
      \.pending)
    addJobs(to: &text)
    text.add(
      "minirex_store_reducer_seconds", "Durations of the calls of the reducer.",
      bounds: ReducerTimes.bounds.map { $0 / .seconds(1) },
      stores.compactMap { store in
        store.totals.reducer.map { (store.labels, $0.counts, $0.total / .seconds(1)) }
      })
  }
}
