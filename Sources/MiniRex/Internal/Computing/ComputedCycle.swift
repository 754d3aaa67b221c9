/// Finds computed values that depend on themselves, on one thread or across several.
enum ComputedCycle {
  /// A computed value in progress on this thread, and the computed value around it.
  ///
  /// The caller of `within` retains it.
  @safe private struct Link {
    let node: Unmanaged<ComputedNode>
    let outer: UnsafeMutablePointer<Link>?
  }

  private static let innermost = ThreadLocalAddress<Link>()
  /// The computed values that threads wait for.
  ///
  /// A chain of them never closes.
  private static let waits = Lock<[ThreadID: ComputedNode]>([:])

  /// Runs `body`, in which the computed value is in progress.
  static func within<Result>(_ node: ComputedNode, _ body: () -> Result) -> Result {
    let outer = unsafe innermost.value
    var link = unsafe Link(node: .passUnretained(node), outer: outer)
    return unsafe withUnsafeMutablePointer(to: &link) { link in
      unsafe innermost.value = link
      defer { unsafe innermost.value = outer }
      return body()
    }
  }

  /// Waits for another thread that runs the computed value.
  ///
  /// - Returns: `false` if that thread waits for this thread.
  static func wait(for node: ComputedNode, on thread: ThreadID, _ parking: Parking) -> Bool {
    let isCycle = waits.withLock { waits in
      waits[thread] = node
      var next = node
      while let runner = next.runner {
        if runner == thread { return true }
        guard let further = waits[runner] else { return false }
        next = further
      }
      return false
    }
    if !isCycle { parking.wait() }
    let removed = waits.withLock { $0.removeValue(forKey: thread) }
    withExtendedLifetime(removed) {}
    return !isCycle
  }

  static func trap(at node: ComputedNode) -> Never {
    let path = path
    let start = path.lastIndex { $0 === node } ?? path.startIndex
    trap(path[start...] + [node])
  }

  /// Traps with the names of computed values that need each other, in the order of the reads.
  static func trap(_ nodes: some Sequence<ComputedNode>) -> Never {
    let names = nodes.map(\.label.description).joined(separator: " → ")
    misuse(
      "A computed value depends on itself: \(names). "
        + "Remove one of these reads, or read a PublishedProperty that a callback sets.")
  }

  /// The computed values in progress on this thread, outermost first.
  private static var path: [ComputedNode] {
    var nodes: [ComputedNode] = []
    var link = unsafe innermost.value
    while let present = unsafe link {
      nodes.append(unsafe present.pointee.node.takeUnretainedValue())
      unsafe link = unsafe present.pointee.outer
    }
    return nodes.reversed()
  }
}
