/// Compares keys so that every key has a place.
///
/// Keys without an order, such as NaN, are equal to each other and come last.
@inlinable
func isKey<Key: Comparable>(_ one: Key, before other: Key) -> Bool {
  if one < other { return true }
  if other < one || one == other { return false }
  return !hasNoOrder(one) && hasNoOrder(other)
}

@inlinable
func hasNoOrder<Key: Equatable>(_ key: Key) -> Bool { key != key }
