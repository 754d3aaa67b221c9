/// Returns `true` if two unequal values have the same content, because NaN equals NaN.
///
/// A publisher compares with `!=`, so it emits NaN again. Only a value that differs from itself is
/// compared by its members.
func differOnlyByNaN<Value: Equatable>(_ one: Value, _ other: Value) -> Bool {
  one != one && hasSameContent(one, other)
}

/// Compares by reflection, with a list instead of the stack.
private func hasSameContent(_ one: Any, _ other: Any) -> Bool {
  var pairs = [(one, other)]
  while let (one, other) = pairs.popLast() {
    if type(of: one) != type(of: other) { return false }
    if isNaN(one) && isNaN(other) { continue }
    if let one = one as? any Equatable, isEqual(one, other) { continue }
    let (members, others) = (Mirror(reflecting: one), Mirror(reflecting: other))
    // Without members, or with the members of an object, only equality decides.
    if members.children.isEmpty || members.displayStyle == .class { return false }
    if members.children.map(\.label) != others.children.map(\.label) { return false }
    pairs += zip(members.children.map(\.value), others.children.map(\.value))
  }
  return true
}

private func isEqual<Value: Equatable>(_ one: Value, _ other: Any) -> Bool {
  one == other as? Value
}

private func isNaN(_ value: Any) -> Bool { (value as? any FloatingPoint)?.isNaN ?? false }
