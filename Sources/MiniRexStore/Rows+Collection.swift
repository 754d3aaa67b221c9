extension Rows: RandomAccessCollection, ExpressibleByArrayLiteral {
  /// Creates rows from a literal.
  ///
  /// The first row with an ID wins.
  @inlinable
  public init(arrayLiteral rows: Row...) { self.init(rows) }

  /// Zero.
  @inlinable
  public var startIndex: Int { 0 }

  /// The number of rows.
  @inlinable
  public var endIndex: Int { rows.count }

  /// Accesses the row at a position for reading.
  ///
  /// To change a row, use ``subscript(id:)``. Traps if the position does not exist.
  @inlinable
  public subscript(position: Int) -> Row {
    if position < 0 || position >= rows.count { refuse(position, in: "rows[position]") }
    return rows[position]
  }

  /// Accesses the rows at a range of positions for reading.
  ///
  /// Traps if the positions do not exist.
  @inlinable
  public subscript(positions: Range<Int>) -> Slice<Rows> {
    if positions.lowerBound < 0 { refuse(positions.lowerBound, in: "rows[range]") }
    if positions.upperBound > rows.count { refuse(positions.upperBound, in: "rows[range]") }
    return Slice(base: self, bounds: positions)
  }

  /// Calls a closure with the contiguous storage of the rows.
  @inlinable
  public func withContiguousStorageIfAvailable<Result>(
    _ body: (UnsafeBufferPointer<Row>) throws -> Result
  ) rethrows -> Result? {
    try unsafe rows.withContiguousStorageIfAvailable(body)
  }
}

extension Rows: Equatable where Row: Equatable {
  /// Returns `true` if both contain equal rows in the same order.
  ///
  /// Comparing unchanged copies is O(1).
  @inlinable
  public static func == (one: Rows, other: Rows) -> Bool {
    one.stamp == other.stamp || one.rows == other.rows
  }
}

extension Rows: Encodable where Row: Encodable {
  /// Encodes the rows as an array.
  public func encode(to encoder: any Encoder) throws { try rows.encode(to: encoder) }
}

extension Rows: Decodable where Row: Decodable {
  /// Decodes rows from an array.
  ///
  /// The first row with an ID wins.
  public init(from decoder: any Decoder) throws { self.init(try [Row](from: decoder)) }
}

extension Rows: CustomStringConvertible, CustomReflectable {
  /// The rows in the format of an array.
  public var description: String { "\(rows)" }

  /// A mirror of the rows, without the index.
  public var customMirror: Mirror {
    Mirror(self, unlabeledChildren: rows, displayStyle: .collection)
  }
}
