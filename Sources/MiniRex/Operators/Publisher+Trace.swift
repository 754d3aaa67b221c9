extension Publisher {
  /// Tells an instrument what happens to each subscription that goes through here.
  ///
  /// ```swift
  /// let positions = clicks.trace("clicks").map(\.position).trace("positions")
  /// ```
  ///
  /// It keeps the kind, and changes nothing. With no instrument in force when it is called, it is
  /// this publisher itself, and costs nothing.
  ///
  /// - Parameters:
  ///   - label: What the events call it.
  ///   - instrument: What hears of it; `nil` for the one in force, see ``Instrument``.
  ///   - fileID: Where it is written.
  ///   - line: Where it is written.
  public func trace(
    _ label: String, instrument: (any Instrument)? = nil, fileID: String = #fileID,
    line: Int = #line
  ) -> Publisher {
    guard
      let trace = Lineage.watched(
        .trace, label, of: lineage, instrument: instrument, fileID, line)
    else { return self }
    return Publisher(watchedBy: trace, current: readCurrent) { follow($0) }
  }
}
