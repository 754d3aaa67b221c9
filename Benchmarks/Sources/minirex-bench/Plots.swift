import Foundation

/// How one number grows.
private struct Growth {
  let file: String
  let title: String
  let unit: String
  let across: String
  let points: [(x: Double, workload: String)]
  let isLogarithmic: Bool
}

private let growths = [
  Growth(
    file: "subscribers", title: "A delivery, by subscribers", unit: "ns per delivery",
    across: "subscribers",
    points: [1, 10, 1000, 100_000].map { (Double($0), "fanout-\($0)") }, isLogarithmic: true),
  Growth(
    file: "operators", title: "An update, by operators on its way", unit: "ns per update",
    across: "maps", points: mapCounts.map { (Double($0), "maps-\($0)") }, isLogarithmic: false),
  Growth(
    file: "threads", title: "A delivery to ten, by sending threads", unit: "ns per delivery",
    across: "threads", points: senderCounts.map { (Double($0), "senders-\($0)") },
    isLogarithmic: false),
]

private let mapCounts = [0, 1, 2, 3, 5, 7, 10]
private let senderCounts = [1, 2, 3, 4]

/// Draws how cost grows with subscribers, operators and threads; measures what the table has not.
func draw(
  into folder: String, _ suite: Suite, _ results: [WorkloadResult], _ options: Options
) -> Bool {
  for n in mapCounts { suite.maps(n, named: "maps-\(n)") }
  for n in senderCounts { suite.senders(n, named: "senders-\(n)") }
  do {
    let folder = URL(filePath: folder, directoryHint: .isDirectory)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    for growth in growths {
      let lines = growth.lines { name in
        results[name] ?? measure(Workload(name, growth.unit), of: suite, options)
      }
      let drawing = Drawing(
        title: growth.title, across: growth.across, unit: growth.unit,
        isLogarithmic: growth.isLogarithmic, lines: lines)
      try Data(drawing.svg.utf8).write(to: folder.appending(path: "\(growth.file).svg"))
    }
    return true
  } catch {
    complain("The plots cannot be written to \(folder): \(error)")
    return false
  }
}

extension Growth {
  /// One line per contestant, in the order in which they appear.
  func lines(result: (String) -> WorkloadResult?) -> [Drawing.Line] {
    var lines: [Drawing.Line] = []
    for (x, workload) in points {
      guard let result = result(workload) else { continue }
      for (name, measurement) in result.contestants {
        let y = threadsMeet(in: workload) ? measurement.median : measurement.min
        if let i = lines.firstIndex(where: { $0.name == name }) {
          lines[i].points.append((x, y))
        } else {
          lines.append(Drawing.Line(name: name, points: [(x, y)]))
        }
      }
    }
    return lines
  }
}
