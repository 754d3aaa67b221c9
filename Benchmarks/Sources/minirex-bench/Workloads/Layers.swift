import MiniRex

/// The layered graphs of js-reactivity-benchmark: one source changes, then the last layer is read.
///
/// Its 25-1000x5 is `computed-dense`.
extension Suite {
  func layers() {
    layers("computed-dense", LayerShape(width: 1_000, depth: 5, reads: 25, isDynamic: false))
    layers("computed-dynamic", LayerShape(width: 100, depth: 15, reads: 6, isDynamic: true))
  }

  private func layers(_ workload: String, _ shape: LayerShape) {
    bench(workload, "minirex") {
      let sources = Holder((0..<shape.width).map { PublishedProperty($0) })
      var layer = sources.v.map(\.publisher)
      for row in shape.rows {
        layer = row.map { [layer] node in
          let inputs = node.inputs.map { layer[$0] }
          return .computed { read in node.value { read(inputs[$0]) } }
        }
      }
      let leaves = Holder(layer)
      let acc = Acc()
      return changes(of: shape.width) { place, value in
        sources.v[place].value = value
        for leaf in leaves.v { acc.add(leaf.current() ?? 0) }
      }
    }
    // Every node runs after each change.
    bench(workload, "bare") {
      let layers = Holder([Array(0..<shape.width)] + shape.rows.map { $0.map { _ in 0 } })
      let rows = shape.rows
      let acc = Acc()
      return changes(of: shape.width) { place, value in
        layers.v[0][place] = value
        for (index, row) in rows.enumerated() {
          for (place, node) in row.enumerated() {
            layers.v[index + 1][place] = node.value { layers.v[index][node.inputs[$0]] }
          }
        }
        for value in layers.v[rows.count] { acc.add(value) }
      }
    }
  }
}

private struct LayerShape {
  let width: Int
  let depth: Int
  let reads: Int
  /// `true` if half of the nodes skip an input.
  let isDynamic: Bool

  var rows: [[LayerNode]] {
    var random: UInt32 = 1
    return (1..<depth).map { _ in
      (0..<width).map { place in
        random = random &* 1_664_525 &+ 1_013_904_223
        return LayerNode(
          inputs: (0..<reads).map { (place + $0) % width },
          isDynamic: isDynamic && random >= 1 << 31)
      }
    }
  }
}

private struct LayerNode: Sendable {
  /// The places of the inputs in the layer above.
  let inputs: [Int]
  let isDynamic: Bool

  @inline(__always)
  func value(_ read: (Int) -> Int) -> Int {
    var sum = 0
    var skipped = -1
    for index in inputs.indices where index != skipped {
      sum &+= read(index)
      if isDynamic, index == 0, sum & 1 == 1 { skipped = 1 + sum % (inputs.count - 1) }
    }
    return sum % 65_536
  }
}

private func changes(of width: Int, _ change: @escaping (Int, Int) -> Void) -> Run {
  let next = Cell(0)
  return { k in
    for _ in 0..<k {
      let place = next.p.pointee % width
      next.p.pointee += 1
      change(place, next.p.pointee + place)
    }
  }
}
