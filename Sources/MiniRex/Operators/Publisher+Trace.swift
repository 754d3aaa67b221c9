extension Publisher {
  /// Reports the events of each subscription at this point to an instrument.
  ///
  /// ```swift
  /// let positions = clicks.trace("clicks").map(\.position).trace("positions")
  /// ```
  ///
  /// It keeps the kind and the updates. Without an instrument, it returns this publisher, at no
  /// cost.
  ///
  /// - Parameters:
  ///   - label: The name of the point in the events.
  ///   - instrument: The instrument. Defaults to the current instrument, see ``Instrument``.
  ///   - fileID: The file that instruments show.
  ///   - line: The line that instruments show.
  public func trace(
    _ label: String, instrument: (any Instrument)? = nil, fileID: String = #fileID,
    line: Int = #line
  ) -> Publisher {
    guard
      let trace = Lineage.watched(
        .trace, label, of: lineage, instrument: instrument, fileID, line)
    else { return self }
    return Publisher(watchedBy: trace, value: currentValue) { follow($0) }
  }
}
