internal import MiniRex

/// An identifier of 120 bits that sorts by its time of creation.
///
/// Use it for rows that several programs create independently. It consists of 48 bits of
/// milliseconds and 72 random bits. Its text has 20 letters, digits, hyphens, and underscores, which
/// sort in the same order.
///
/// ```swift
/// let ids = PushIDSource { Int64(Date.now.timeIntervalSince1970 * 1_000) }
/// store.send(.add(id: ids.next(), text: "Wash"))
/// ```
///
/// A reducer must not create an identifier, because a replay would create another. Put it in the
/// action.
public struct PushID: Hashable, Comparable, Sendable, LosslessStringConvertible {
  private let bits: UInt128

  init(_ bits: UInt128) { self.bits = bits }

  init(milliseconds: Int64, random: UInt128) {
    let time = UInt128(UInt64(max(0, milliseconds))) & (1 << 48 - 1)
    bits = time << 72 | random & (1 << 72 - 1)
  }

  /// Creates an identifier from its text.
  ///
  /// Returns `nil` if the text does not consist of 20 characters of an identifier.
  public init?(_ description: String) {
    guard description.utf8.count == 20 else { return nil }
    var bits: UInt128 = 0
    for byte in description.utf8 {
      guard let digit = Self.digits.firstIndex(of: byte) else { return nil }
      bits = bits << 6 | UInt128(digit)
    }
    self.bits = bits
  }

  /// The time of creation, in milliseconds since the origin of the source's clock.
  ///
  /// It is later than the clock's time if the source created several identifiers in one millisecond
  /// and used up the random bits, or if its clock was set back.
  public var milliseconds: Int64 { Int64(bits >> 72) }

  /// The text of 20 characters.
  public var description: String {
    let shifts = stride(from: 114, through: 0, by: -6)
    return String(decoding: shifts.map { Self.digits[Int(bits >> $0 & 63)] }, as: UTF8.self)
  }

  /// The next identifier in order.
  var next: PushID { PushID(bits &+ 1 & (1 << 120 - 1)) }

  /// In the order of ASCII, so that texts sort like their identifiers.
  private static let digits = Array(
    "-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz".utf8)

  /// Returns `true` if the first identifier was created earlier.
  public static func < (one: PushID, other: PushID) -> Bool { one.bits < other.bits }
}

extension PushID: Codable {
  /// Decodes the text.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let text = try container.decode(String.self)
    guard let id = PushID(text) else {
      throw DecodingError.dataCorruptedError(
        in: container,
        debugDescription: "A PushID has 20 letters, digits, hyphens, or underscores.")
    }
    self = id
  }

  /// Encodes the text.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}

/// Creates identifiers in ascending order.
///
/// Each identifier is greater than all earlier identifiers of the source, even within a millisecond
/// and after the clock was set back. Two sources create the same identifier only if they draw the
/// same 72 random bits in the same millisecond. It is thread-safe.
public final class PushIDSource: Sendable {
  private let milliseconds: @Sendable () -> Int64
  private let last = Lock<PushID?>(nil)

  /// Creates a source.
  ///
  /// - Parameter milliseconds: A clock, which should have the same origin in all programs. Only its
  ///   lower 48 bits count, which suffice until the year 10889 for the origin 1970.
  public init(milliseconds: @escaping @Sendable () -> Int64) {
    self.milliseconds = milliseconds
  }

  /// Returns the next identifier.
  public func next() -> PushID {
    let random = UInt128.random(in: 0..<(1 << 72))
    let fresh = PushID(milliseconds: milliseconds(), random: random)
    return last.withLock { last in
      var id = fresh
      if let last, fresh.milliseconds <= last.milliseconds { id = last.next }
      last = id
      return id
    }
  }
}
