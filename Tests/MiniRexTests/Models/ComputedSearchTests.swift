import MiniRex
import TestSupport
import Testing

/// Every interleaving of two writers, a reader, and the subscriber of a diamond of computed values.
///
/// The writers act before each read of each closure, in callbacks, and between the turns. All of
/// them share a thread, which is what the sources see when callbacks send. They have a process of
/// their own, because writes of other tests move the change clock, and runs may then be repeated.
@Suite(.light) struct ComputedSearchTests {
  @Test func `R36 R37 every interleaving of two writers and a reader is consistent`() async {
    await #expect(processExitsWith: .success) { searchDiamonds(sharingSource: false) }
    await #expect(processExitsWith: .success) { searchDiamonds(sharingSource: true) }
  }
}

private func searchDiamonds(sharingSource sharesSource: Bool) {
  let (count, fault) = searchChoices { choices in
    let run = DiamondRun(choices, sharesSource: sharesSource)
    run.finish()
    choices = run.choices
    return run.fault
  }
  #expect(fault == nil)
  #expect(count > 1_000)
}

/// One interleaving.
///
/// Each choice selects the next action of a writer or the reader, or none.
private final class DiamondRun: @unchecked Sendable {
  private let left = PublishedProperty(0)
  private let right: PublishedProperty<Int>
  private var writes: [[Int]]
  private var reads = 1
  private(set) var choices: Choices
  private(set) var fault: String?
  private var emitted: [[Int]] = []
  private var isReading = false
  private var bottom: PublishedValue<[Int]>?
  private var subscription: Subscription?

  init(_ choices: Choices, sharesSource: Bool) {
    self.choices = choices
    let (left, right) = (left, sharesSource ? left : PublishedProperty(0))
    self.right = right
    writes = sharesSource ? [[1, 2], [3]] : [[1, 2], [1]]
    let doubled = PublishedValue.computed { [unowned self] read in
      act(inClosure: true)
      return read(left) * 2
    }
    let sum = PublishedValue.computed { [unowned self] read in
      act(inClosure: true)
      let first = read(left)
      act(inClosure: true)
      return first + read(right)
    }
    let bottom = PublishedValue.computed { [unowned self] read in
      act(inClosure: true)
      let double = read(doubled)
      act(inClosure: true)
      let sum = read(sum)
      act(inClosure: true)
      let values = [read(left), read(right)]
      if double != values[0] * 2 || sum != values[0] + values[1] {
        fault = "A run saw \(double), \(sum), and \(values)"
      }
      return values
    }
    self.bottom = bottom
    subscription = bottom.subscribe { [unowned self] in
      emitted.append($0)
      act(inClosure: false)
    }
  }

  func finish() {
    while writes.contains(where: { !$0.isEmpty }) || reads > 0 { act(inClosure: false, must: true) }
    let last = [left.value, right.value]
    if emitted.last != last {
      fault = fault ?? "The last update was \(emitted.last ?? []), not \(last)"
    }
    if bottom?.current() != last { fault = fault ?? "The value was not \(last)" }
    if zip(emitted, emitted.dropFirst()).contains(where: ==) {
      fault = fault ?? "An update was repeated in \(emitted)"
    }
    subscription = nil
  }

  private func act(inClosure: Bool, must: Bool = false) {
    if inClosure, isReading { return }
    var actions: [() -> Void] = must ? [] : [{}]
    for writer in writes.indices where !writes[writer].isEmpty {
      actions.append { [self] in
        let value = writes[writer].removeFirst()
        (writer == 0 ? left : right).value = value
      }
    }
    if !inClosure, reads > 0 {
      actions.append { [self] in
        reads -= 1
        isReading = true
        _ = bottom?.current()
        isReading = false
      }
    }
    if actions.count == 1 { return actions[0]() }
    if actions.isEmpty { return }
    actions[choices.choose(of: actions.count)]()
  }
}
