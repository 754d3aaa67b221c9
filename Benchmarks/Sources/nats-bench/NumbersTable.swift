#if NATS
import Foundation

/// Measures MiniRex and libnats in alternation, and prints the table of one server.
///
/// - Parameters:
///   - python: The path of a Python with nats-py, or `nil`.
///   - rounds: The number of rounds.
///   - isBrief: A Boolean value that indicates whether each mode has few operations.
func printNumbers(_ url: String, python: String?, rounds: Int, isBrief: Bool) async throws {
  func count(_ full: Int) -> Int { isBrief ? max(100, full / 50) : full }
  let peer = try python.map { try figures(of: $0, url, isBrief: isBrief) } ?? [:]
  print("nats-server \(await version(of: url)), load \(load())\n\n\(Row.head)")

  for (size, total, goal) in [(16, 400_000, 0.9), (1_024, 100_000, 0.95)] {
    let total = count(total)
    var row = Row(
      name: "messages of \(size) bytes", unit: "a second", isRate: true, ours: [],
      python: peer["messages \(size)"] ?? [], goal: .leastOfC(goal))
    for _ in 0..<rounds {
      row.bare.append(Double(total) / bareSeconds(total, size, url))
      row.ours.append(Double(total) / (await seconds(of: Data(count: size), total, url)))
    }
    print(row.line)
  }
  do {
    let total = count(100_000)
    var row = Row(name: "messages of JSON", unit: "a second", isRate: true, ours: [])
    for _ in 0..<rounds {
      row.ours.append(
        Double(total) / (await seconds(of: ConsumerState(sensor: 7, celsius: 21.5), total, url)))
    }
    print(row.line)
  }
  do {
    var rows = ["p50", "p99"].map { name in
      Row(
        name: "request, \(name)", unit: "µs", ours: [], python: peer["request \(name)"] ?? [],
        goal: .mostOfC(name == "p50" ? 1.15 : 2))
    }
    for _ in 0..<rounds {
      let bare = bareRequests(count(3_000), url).sorted()
      let ours = (await requests(count(3_000), url)).sorted()
      for (index, part) in [50, 99].enumerated() {
        rows[index].bare.append(bare[bare.count * part / 100] / 1_000)
        rows[index].ours.append(ours[ours.count * part / 100] / 1_000)
      }
    }
    for row in rows { print(row.line) }
  }
  do {
    var append = Row(
      name: "append of 128 bytes, p50", unit: "µs", ours: [], python: peer["append p50"] ?? [],
      goal: .mostOfC(1.15))
    var confirmation = Row(
      name: "confirmation of a replica, p50", unit: "µs", ours: [], goal: .mostOfC(1.5))
    var arrival = Row(
      name: "… next to an append and its message", unit: "µs", ours: [])
    for _ in 0..<rounds {
      let bare = median(bareAppends(count(2_000), size: 128, url)) / 1_000
      append.bare.append(bare)
      append.ours.append(median(await appends(count(2_000), size: 128, url)) / 1_000)
      confirmation.bare.append(bare)
      let arrived = median(bareConfirmations(count(2_000), size: 128, url)) / 1_000
      confirmation.ours.append(median(try await confirmations(count(2_000), url)) / 1_000)
      arrival.ours = confirmation.ours
      arrival.bare.append(arrived)
    }
    print(append.line)
    print(confirmation.line)
    print(arrival.line)
  }
  do {
    var inFlight = Row(
      name: "appends of 128 bytes in flight", unit: "a second", isRate: true, ours: [],
      python: peer["appends"] ?? [], goal: .leastOfC(0.9))
    var putting = Row(
      name: "puts of one key, one after another", unit: "a second", isRate: true, ours: [],
      python: peer["puts"] ?? [], goal: .leastOfC(0.85))
    for _ in 0..<rounds {
      let (many, few) = (count(100_000), count(2_000))
      inFlight.bare.append(Double(many) / bareAppendsInFlight(many, size: 128, url))
      inFlight.ours.append(Double(many) / (await appendsInFlight(many, size: 128, url)))
      putting.bare.append(Double(few) / barePuts(few, size: 128, url))
      putting.ours.append(Double(few) / (await puts(few, size: 128, url)))
    }
    print(inFlight.line)
    print(putting.line)
  }
  print(
    Row(
      name: "heap of a subscription, of 10,000", unit: "bytes",
      ours: [await subscription(10_000, url)], bare: [bareSubscription(10_000, url)],
      goal: .mostAboveC(768)
    ).line)
  try await printReplicas(url, rounds: rounds, count)
  print("\nload afterwards \(load())")
}

private func printReplicas(
  _ url: String, rounds: Int, _ count: (Int) -> Int
) async throws {
  func row(
    _ name: String, _ unit: String, isRate: Bool = false, _ goal: Row.Goal,
    _ measure: () async throws -> Double
  ) async throws {
    var row = Row(name: name, unit: unit, isRate: isRate, ours: [], goal: goal)
    for _ in 0..<rounds { row.ours.append(try await measure()) }
    print(row.line)
  }
  var sending = Row(name: "`send` of a replica", unit: "µs", ours: [])
  var rest = Row(
    name: "… without the encoder", unit: "µs of a processor", ours: [], goal: .most(1.5))
  for _ in 0..<rounds {
    let encoder = try encoding(count(50_000))
    let whole = try await send(count(50_000))
    sending.ours.append(whole.clock / 1_000)
    rest.ours.append((whole.processor - encoder.processor) / 1_000)
  }
  print(sending.line)
  print(rest.line)
  try await row("`send` with an outbox", "µs", .most(6)) {
    try await send(count(50_000), keptIn: try BenchFolder()).clock / 1_000
  }
  let moves = (0..<count(200_000)).map { Move(card: 100_000 + $0) }
  try await row("decided actions, 34 bytes of JSON", "a second", isRate: true, .least(400_000)) {
    Double(moves.count) / (try await decided(moves, url))
  }
  let texts = [String](repeating: String(repeating: "x", count: 32), count: count(200_000))
  try await row("decided actions, a string of 34 bytes", "a second", isRate: true, .least(400_000))
  {
    Double(texts.count) / (try await decided(texts, url))
  }
  for (name, work) in [("almost empty", 1), ("10 µs", 8_000)] {
    var commits = Row(
      name: "rebase of 1,000 on 10,000, reducer \(name)", unit: "commits", ours: [], goal: .most(40)
    )
    var time = Row(name: "… its time", unit: "of the reducer's", ours: [], goal: .most(1.2))
    for _ in 0..<rounds {
      let rebase = try await rebase(pending: 1_000, foreign: 10_000, work: work)
      commits.ours.append(Double(rebase.commits))
      time.ours.append(rebase.seconds / rebase.reducing)
    }
    print(commits.line)
    print(time.line)
  }
  try await row("100,000 pending actions, all decided", "s", .most(2)) {
    try await decideBacklog(count(100_000), url)
  }
}

/// Runs the same operations with nats-py.
private func figures(
  of python: String, _ url: String, isBrief: Bool
) throws -> [String: [Double]] {
  let script = URL(filePath: #filePath).appending(path: "../../../nats-py.py").standardizedFileURL
  let process = Process()
  process.executableURL = URL(filePath: python)
  process.arguments = [script.path, url] + (isBrief ? ["--brief"] : [])
  let output = Pipe()
  process.standardOutput = output
  try process.run()
  let data = output.fileHandleForReading.readDataToEndOfFile()
  process.waitUntilExit()
  return try JSONDecoder().decode([String: [Double]].self, from: data)
}

private func version(of url: String) async -> String {
  let nats = await connection(url)
  defer { Task { await nats.close() } }
  return nats.serverVersion ?? ""
}

/// The number of threads that wanted to run in the last minute.
private func load() -> String {
  let text = try? String(contentsOfFile: "/proc/loadavg", encoding: .utf8)
  return String(text?.split(separator: " ").first ?? "")
}
#endif
