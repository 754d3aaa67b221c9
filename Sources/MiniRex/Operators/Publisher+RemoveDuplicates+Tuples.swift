// A tuple is not `Equatable`, although its elements may be. The documentation shows the general operator only, because
// DocC cannot tell overloads without parameters apart by their names.

extension Publisher where Kind: StreamKind {
  /// Skips each tuple whose elements equal the elements of the last emitted one.
  @_documentation(visibility: internal)
  @inlinable
  public func removeDuplicates<
    First: Equatable & Sendable, Second: Equatable & Sendable
  >() -> Publisher<Update, Kind>
  where Update == (First, Second) {
    removingDuplicates(ChangeTest(ofEquatable: { $0 != $1 }))
  }

  /// Keeps each tuple, because an element is not `Equatable`.
  @_documentation(visibility: internal)
  @available(
    *, deprecated,
    message:
      "A tuple with an element that is not 'Equatable' is never a duplicate. Use 'removeDuplicates(by:)'."
  )
  public func removeDuplicates<First: Sendable, Second: Sendable>() -> Publisher<Update, Kind>
  where Update == (First, Second) { self }

  /// Skips each tuple whose elements equal the elements of the last emitted one.
  @_documentation(visibility: internal)
  @inlinable
  public func removeDuplicates<
    First: Equatable & Sendable, Second: Equatable & Sendable, Third: Equatable & Sendable
  >() -> Publisher<Update, Kind>
  where Update == (First, Second, Third) {
    removingDuplicates(ChangeTest(ofEquatable: { $0 != $1 }))
  }

  /// Keeps each tuple, because an element is not `Equatable`.
  @_documentation(visibility: internal)
  @available(
    *, deprecated,
    message:
      "A tuple with an element that is not 'Equatable' is never a duplicate. Use 'removeDuplicates(by:)'."
  )
  public func removeDuplicates<
    First: Sendable, Second: Sendable, Third: Sendable
  >() -> Publisher<Update, Kind>
  where Update == (First, Second, Third) { self }

  /// Skips each tuple whose elements equal the elements of the last emitted one.
  @_documentation(visibility: internal)
  @inlinable
  public func removeDuplicates<
    First: Equatable & Sendable, Second: Equatable & Sendable, Third: Equatable & Sendable,
    Fourth: Equatable & Sendable
  >() -> Publisher<Update, Kind>
  where Update == (First, Second, Third, Fourth) {
    removingDuplicates(ChangeTest(ofEquatable: { $0 != $1 }))
  }

  /// Keeps each tuple, because an element is not `Equatable`.
  @_documentation(visibility: internal)
  @available(
    *, deprecated,
    message:
      "A tuple with an element that is not 'Equatable' is never a duplicate. Use 'removeDuplicates(by:)'."
  )
  public func removeDuplicates<
    First: Sendable, Second: Sendable, Third: Sendable, Fourth: Sendable
  >() -> Publisher<Update, Kind>
  where Update == (First, Second, Third, Fourth) { self }

  /// Skips each tuple whose elements equal the elements of the last emitted one.
  @_documentation(visibility: internal)
  @inlinable
  public func removeDuplicates<
    First: Equatable & Sendable, Second: Equatable & Sendable, Third: Equatable & Sendable,
    Fourth: Equatable & Sendable, Fifth: Equatable & Sendable
  >() -> Publisher<Update, Kind>
  where Update == (First, Second, Third, Fourth, Fifth) {
    removingDuplicates(ChangeTest(ofEquatable: { $0 != $1 }))
  }

  /// Keeps each tuple, because an element is not `Equatable`.
  @_documentation(visibility: internal)
  @available(
    *, deprecated,
    message:
      "A tuple with an element that is not 'Equatable' is never a duplicate. Use 'removeDuplicates(by:)'."
  )
  public func removeDuplicates<
    First: Sendable, Second: Sendable, Third: Sendable, Fourth: Sendable, Fifth: Sendable
  >() -> Publisher<Update, Kind>
  where Update == (First, Second, Third, Fourth, Fifth) { self }

  /// Skips each tuple whose elements equal the elements of the last emitted one.
  @_documentation(visibility: internal)
  @inlinable
  public func removeDuplicates<
    First: Equatable & Sendable, Second: Equatable & Sendable, Third: Equatable & Sendable,
    Fourth: Equatable & Sendable, Fifth: Equatable & Sendable, Sixth: Equatable & Sendable
  >() -> Publisher<Update, Kind>
  where Update == (First, Second, Third, Fourth, Fifth, Sixth) {
    removingDuplicates(ChangeTest(ofEquatable: { $0 != $1 }))
  }

  /// Keeps each tuple, because an element is not `Equatable`.
  @_documentation(visibility: internal)
  @available(
    *, deprecated,
    message:
      "A tuple with an element that is not 'Equatable' is never a duplicate. Use 'removeDuplicates(by:)'."
  )
  public func removeDuplicates<
    First: Sendable, Second: Sendable, Third: Sendable, Fourth: Sendable, Fifth: Sendable,
    Sixth: Sendable
  >() -> Publisher<Update, Kind>
  where Update == (First, Second, Third, Fourth, Fifth, Sixth) { self }
}
