import MiniRex

/// A variable that is safe to use on several threads.
public final class Shared<Value: Sendable>: Sendable {
  private let lock: Lock<Value>

  /// Creates a variable.
  public init(_ value: Value) { lock = Lock(value) }

  /// The present value.
  public var value: Value {
    get { lock.withLock { $0 } }
    set {
      var old = newValue
      lock.withLock { swap(&$0, &old) }
    }
  }

  /// Changes the value while no other thread uses it.
  public func change<Result: Sendable>(_ body: (inout Value) -> Result) -> Result {
    lock.withLock { body(&$0) }
  }
}

extension Shared where Value == Int {
  /// Adds an amount, and returns the sum.
  @discardableResult
  public func increment(by amount: Int = 1) -> Int {
    change { value in
      value += amount
      return value
    }
  }
}

extension Shared where Value: RangeReplaceableCollection, Value.Element: Sendable {
  /// Appends an element.
  public func append(_ element: Value.Element) {
    change { $0.append(element) }
  }
}
