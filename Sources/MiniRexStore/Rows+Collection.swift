extension Rows: RandomAccessCollection, ExpressibleByArrayLiteral {
  /// Makes rows of the first with each id.
  @inlinable
  public init(arrayLiteral rows: Row...) { self.init(rows) }

  /// Zero.
  @inlinable
  public var startIndex: Int { 0 }

  /// How many rows there are.
  @inlinable
  public var endIndex: Int { rows.count }

  /// The row at a position, to be read; it is changed by its id.
  @inlinable
  public subscript(position: Int) -> Row { rows[position] }

  /// Calls a closure with all rows in a row.
  @inlinable
  public func withContiguousStorageIfAvailable<Result>(
    _ body: (UnsafeBufferPointer<Row>) throws -> Result
  ) rethrows -> Result? {
    try unsafe rows.withContiguousStorageIfAvailable(body)
  }
}

extension Rows: Equatable where Row: Equatable {
  /// True if there are equal rows in the same order; O(1) for copies of which neither has been changed.
  @inlinable
  public static func == (one: Rows, other: Rows) -> Bool {
    one.stamp == other.stamp || one.rows == other.rows
  }
}

extension Rows: Encodable where Row: Encodable {
  /// Encodes the rows as an array does.
  public func encode(to encoder: any Encoder) throws { try rows.encode(to: encoder) }
}

extension Rows: Decodable where Row: Decodable {
  /// Decodes rows that an array has encoded; the first with each id stays.
  public init(from decoder: any Decoder) throws { self.init(try [Row](from: decoder)) }
}

extension Rows: CustomStringConvertible, CustomReflectable {
  /// The rows, as an array describes them.
  public var description: String { "\(rows)" }

  /// Shows the rows, and not how they are found.
  public var customMirror: Mirror {
    Mirror(self, unlabeledChildren: rows, displayStyle: .collection)
  }
}
