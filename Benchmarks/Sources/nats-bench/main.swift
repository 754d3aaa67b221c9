#if NATS
import Bare
import Foundation

// The members of `--fleet`, in a separate process.
if let place = CommandLine.arguments.firstIndex(of: "--members") {
  let words = CommandLine.arguments.dropFirst(place + 1)
  await beMembers(words.first.flatMap { Int($0) } ?? 1, words.last ?? "")
}

// The baseline is bare libnats in C, in the same process and over the same server.
let server = try BenchServer()
defer { server.stop() }
let isBrief = CommandLine.arguments.contains("--brief")

// For a profiler: repeats one operation of the bridge.
if let place = CommandLine.arguments.firstIndex(of: "--ours") {
  let what = CommandLine.arguments.dropFirst(place + 1).first
  for _ in 0..<5 {
    let before = processor_seconds()
    var (count, figure) = (5_000, "")
    switch what {
    case "requests": figure = "\(median(await requests(count, server.url)) / 1_000) µs"
    case "subscriptions":
      count = 10_000
      figure = "\(await subscription(count, server.url)) bytes"
    case "appends":
      count = 100_000
      figure = "\(Int(100_000 / (await appendsInFlight(count, size: 128, server.url)))) a second"
    case "puts": figure = "\(5_000 / (await puts(count, size: 128, server.url))) a second"
    case "confirmations":
      figure = "\(median(try await confirmations(count, server.url)) / 1_000) µs"
    case "encoder":
      count = 200_000
      figure = "\(try encoding(count).clock / 1_000) µs"
    case "send":
      count = 200_000
      figure = "\(try await send(count).clock / 1_000) µs"
    case "outbox":
      count = 100_000
      figure = "\(try await send(count, keptIn: try BenchFolder()).clock / 1_000) µs"
    case "decided":
      count = 100_000
      let moves = (0..<count).map { Move(card: 100_000 + $0) }
      figure = "\(Int(100_000 / (try await decided(moves, server.url)))) a second"
    default:
      let size = CommandLine.arguments.dropFirst(place + 2).first.flatMap { Int($0) } ?? 16
      count = 400_000
      figure =
        "\(Int(400_000 / (await seconds(of: Data(count: size), count, server.url)))) a second"
    }
    let used = (processor_seconds() - before) / Double(count) * 1e9
    print(figure + ",", Int(used), "ns of the processors for each")
  }
  server.stop()
  exit(0)
}

// Alternates messages of both sides, with processor time per message: `--turns SIZE`.
if let place = CommandLine.arguments.firstIndex(of: "--turns") {
  let size = CommandLine.arguments.dropFirst(place + 1).first.flatMap { Int($0) } ?? 16
  let count = 400_000
  var times: [[Double]] = [[], []]
  var ratios: [Double] = []
  for _ in 0..<15 {
    let start = processor_seconds()
    let bare = bareSeconds(count, size, server.url)
    let middle = processor_seconds()
    let ours = await seconds(of: Data(count: size), count, server.url)
    times[0].append((middle - start) / Double(count) * 1e9)
    times[1].append((processor_seconds() - middle) / Double(count) * 1e9)
    ratios.append(bare / ours)
  }
  print("ns of the processors: C", Int(median(times[0])), "ours", Int(median(times[1])))
  print("messages a second, of C's:", ratios.sorted().map { String(format: "%.2f", $0) })
  server.stop()
  exit(0)
}

// Measures many connections of one process: `--scale CONNECTIONS SUBSCRIPTIONS`.
if let place = CommandLine.arguments.firstIndex(of: "--scale") {
  let numbers = CommandLine.arguments.dropFirst(place + 1).compactMap { Int($0) }
  await measureScale(
    connections: numbers.first ?? 100, subscriptions: numbers.dropFirst().first ?? 100, server.url)
  server.stop()
  exit(0)
}

// Measures the page of a fleet: `--fleet MEMBERS`.
if let place = CommandLine.arguments.firstIndex(of: "--fleet") {
  let count = CommandLine.arguments.dropFirst(place + 1).first.flatMap { Int($0) } ?? 1_000
  try await measureFleet(of: count, server.url, seconds: isBrief ? 5 : 30)
  server.stop()
  exit(0)
}

// The table of one server: `--python PATH` adds a column for nats-py.
let python = CommandLine.arguments.firstIndex(of: "--python").flatMap {
  CommandLine.arguments.dropFirst($0 + 1).first
}
let rounds = CommandLine.arguments.firstIndex(of: "--rounds").flatMap {
  CommandLine.arguments.dropFirst($0 + 1).first.flatMap { Int($0) }
}
try await printNumbers(
  server.url, python: python, rounds: isBrief ? 1 : rounds ?? 7, isBrief: isBrief)
server.stop()
#else
print("Build nats-bench with --traits NATS.")
#endif
