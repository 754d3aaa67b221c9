import Foundation

/// A diagram of lines, as SVG.
struct Drawing {
  struct Line {
    let name: String
    var points: [(x: Double, y: Double)]
  }

  let title: String
  let across: String
  let unit: String
  /// Both axes are, or neither.
  let isLogarithmic: Bool
  let lines: [Line]

  var svg: String {
    """
    <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 400" font-family="sans-serif"
      font-size="13" fill="#767676">
    <text x="\(left)" y="24" font-size="16">\(title)</text>
    <text x="\(left)" y="48">\(unit)</text>
    <text x="\(right)" y="392" text-anchor="end">\(across)</text>
    \((rows + columns + lines.indices.map(drawn)).joined(separator: "\n"))
    </svg>

    """
  }
}

private let left = 64.0
private let right = 560.0
private let top = 60.0
private let bottom = 350.0
private let colours = ["#d1495b", "#2e86ab", "#6a994e", "#bc6c25", "#7b5ea7", "#767676"]

extension Drawing {
  private var rows: [String] {
    ticks(upTo: highest, from: lowest).map { y in
      """
      <path d="M\(left) \(pixel(up: y))H\(right)" stroke="#767676" stroke-opacity="0.3"/>\
      <text x="\(left - 8)" y="\(pixel(up: y) + 4)" text-anchor="end">\(short(y))</text>
      """
    }
  }

  private var columns: [String] {
    Set(lines.flatMap { $0.points.map(\.x) }).sorted().map { x in
      "<text x=\"\(pixel(across: x))\" y=\"\(bottom + 20)\" text-anchor=\"middle\">\(short(x))</text>"
    }
  }

  private func drawn(_ index: Int) -> String {
    let line = lines[index]
    let colour = colours[index % colours.count]
    let pixels = line.points.map { (x: pixel(across: $0.x), y: pixel(up: $0.y)) }
    let path = pixels.map { "\($0.x) \($0.y)" }.joined(separator: "L")
    let dots = pixels.map { "<circle cx=\"\($0.x)\" cy=\"\($0.y)\" r=\"3\" fill=\"\(colour)\"/>" }
    guard let end = pixels.last else { return "" }
    return """
      <path d="M\(path)" fill="none" stroke="\(colour)" stroke-width="2"/>\(dots.joined())\
      <text x="\(end.x + 8)" y="\(labelHeight(of: index))" fill="\(colour)">\(line.name)</text>
      """
  }

  /// Beside the end of its line, but clear of the labels of others.
  private func labelHeight(of index: Int) -> Double {
    let ends = lines.indices.map { ($0, pixel(up: lines[$0].points.last?.y ?? lowest)) }
    var last = -Double.infinity
    for (i, y) in ends.sorted(by: { $0.1 < $1.1 }) {
      last = max(y + 4, last + 15)
      if i == index { break }
    }
    return last
  }
}

extension Drawing {
  private var highest: Double { lines.flatMap { $0.points.map(\.y) }.max() ?? 1 }

  private var lowest: Double {
    isLogarithmic ? lines.flatMap { $0.points.map(\.y) }.min() ?? 1 : 0
  }

  private func pixel(across x: Double) -> Double {
    let all = lines.flatMap { $0.points.map(\.x) }
    return place(x, all.min() ?? 0, all.max() ?? 1, left + 16, right - 16)
  }

  private func pixel(up y: Double) -> Double {
    let ticks = ticks(upTo: highest, from: lowest)
    return place(y, ticks.first ?? 0, ticks.last ?? 1, bottom, top)
  }

  private func place(_ v: Double, _ a: Double, _ b: Double, _ from: Double, _ to: Double) -> Double
  {
    let part = isLogarithmic ? log(v / a) / log(b / a) : (v - a) / (b - a)
    return ((from + part * (to - from)) * 10).rounded() / 10
  }

  /// Round numbers that enclose what is shown.
  private func ticks(upTo high: Double, from low: Double) -> [Double] {
    guard high > 0, low >= 0 else { return [0, 1] }
    if isLogarithmic {
      let decades = Int(log10(low).rounded(.down))...Int(log10(high * 1.0001).rounded(.up))
      return decades.map { pow(10, Double($0)) }
    }
    let unit = pow(10, log10(high).rounded(.down))
    let step = [0.2, 0.5, 1, 2].map { $0 * unit }.first { high / $0 <= 6 } ?? 2 * unit
    return (0...Int((high / step).rounded(.up))).map { Double($0) * step }
  }

  private func short(_ value: Double) -> String {
    if value > 0, value < 1 { return String(format: "%.1f", value) }
    return Int(value).formatted(.number.locale(Locale(identifier: "en_US")))
  }
}
