import Foundation

/// A plot of cost over size.
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
    file: "operators", title: "An update, by operators in its chain", unit: "ns per update",
    across: "maps", points: mapCounts.map { (Double($0), "maps-\($0)") }, isLogarithmic: false),
  Growth(
    file: "threads", title: "A delivery to ten, by sending threads", unit: "ns per delivery",
    across: "threads", points: senderCounts.map { (Double($0), "senders-\($0)") },
    isLogarithmic: false),
  Growth(
    file: "rows", title: "A change of one row, by rows with subscribers", unit: "ns per change",
    across: "rows", points: rowCounts.map { (Double($0), "rows-\($0)") }, isLogarithmic: true),
]

private let mapCounts = [0, 1, 2, 3, 5, 7, 10]
private let senderCounts = [1, 2, 3, 4]
private let rowCounts = [1, 10, 100, 1000, 10_000, 100_000]

/// Plots the cost by subscribers, operators, threads, and rows, and measures points that the table
/// lacks.
///
/// It writes gnuplot scripts with their data, and lets gnuplot draw the pictures.
func draw(
  into folder: String, _ suite: Suite, _ results: [WorkloadResult], _ options: Options
) -> Bool {
  for n in mapCounts { suite.maps(n, named: "maps-\(n)") }
  for n in senderCounts { suite.senders(n, named: "senders-\(n)") }
  for n in rowCounts where results["rows-\(n)"] == nil { suite.rows(n, named: "rows-\(n)") }
  do {
    let folder = URL(filePath: folder, directoryHint: .isDirectory)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    for growth in growths {
      let lines = growth.lines { name in
        results[name] ?? measure(Workload(name, growth.unit), of: suite, options)
      }
      let script = folder.appending(path: "\(growth.file).gnuplot")
      try Data(growth.script(drawing: lines).utf8).write(to: script)
    }
    return try runGnuplot(in: folder)
  } catch {
    complain("Cannot write the plots to \(folder): \(error)")
    return false
  }
}

/// Returns `false` and prints a message if gnuplot is not installed.
private func runGnuplot(in folder: URL) throws -> Bool {
  let gnuplot = Process()
  gnuplot.executableURL = URL(filePath: "/usr/bin/env")
  gnuplot.arguments = ["gnuplot"] + growths.map { "\($0.file).gnuplot" }
  gnuplot.currentDirectoryURL = folder
  try gnuplot.run()
  gnuplot.waitUntilExit()
  if gnuplot.terminationStatus == 127 {
    complain("gnuplot is not installed: \(folder.path()) has scripts and data without pictures.")
    return true
  }
  return gnuplot.terminationStatus == 0
}

/// The measurements of one contestant.
private struct Line {
  let name: String
  var points: [(x: Double, y: Double)]
}

extension Growth {
  fileprivate func script(drawing lines: [Line]) -> String {
    let data = lines.indices.map { i in
      let points = lines[i].points.map { "\(Int($0.x)) \(String(format: "%.2f", $0.y))" }
      return (["$line\(i) << END"] + points + ["END"]).joined(separator: "\n")
    }
    let plots = lines.indices.map {
      "$line\($0) title '\(lines[$0].name)' with linespoints lw 2 pt 7"
    }
    return """
      reset
      set terminal svg size 720,400 dynamic font 'sans-serif,13'
      set output '\(file).svg'
      set title '\(title)' textcolor '#767676'
      set xlabel '\(across)' textcolor '#767676'
      set ylabel '\(unit)' textcolor '#767676'
      set border 3 linecolor '#767676'
      set tics nomirror textcolor '#767676'
      set xtics (\(points.map { "\(Int($0.x))" }.joined(separator: ", ")))
      set grid ytics linecolor '#767676' dashtype 3
      set key outside right textcolor '#767676'
      set \(isLogarithmic ? "logscale xy" : "yrange [0:*]")
      \(data.joined(separator: "\n"))
      plot \(plots.joined(separator: ", "))

      """
  }

  /// Returns one line per contestant, in order of appearance.
  fileprivate func lines(result: (String) -> WorkloadResult?) -> [Line] {
    var lines: [Line] = []
    for (x, workload) in points {
      guard let result = result(workload) else { continue }
      for (name, measurement) in result.contestants {
        let y = threadsMeet(in: workload) ? measurement.median : measurement.min
        if let i = lines.firstIndex(where: { $0.name == name }) {
          lines[i].points.append((x, y))
        } else {
          lines.append(Line(name: name, points: [(x, y)]))
        }
      }
    }
    return lines
  }
}
