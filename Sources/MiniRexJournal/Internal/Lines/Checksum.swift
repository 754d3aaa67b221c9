/// The CRC-32 of zlib, PNG, and Python's `zlib.crc32`.
package enum Checksum {
  /// The effect of a byte on the sum: 256 entries for each of four positions, the last position first.
  private static let table: [UInt32] = {
    var table: [UInt32] = []
    for byte in 0..<UInt32(256) {
      var sum = byte
      for _ in 0..<8 { sum = sum & 1 == 1 ? 0xEDB8_8320 ^ (sum >> 1) : sum >> 1 }
      table.append(sum)
    }
    for place in 0..<768 {
      let sum = table[place]
      table.append(table[Int(sum & 255)] ^ (sum >> 8))
    }
    return table
  }()

  /// - Parameter former: The checksum of the bytes before.
  package static func of(_ bytes: ArraySlice<UInt8>, after former: UInt32 = 0) -> UInt32 {
    let table = table
    var sum = ~former
    var place = bytes.startIndex
    // The four lookups do not depend on each other, so the processor runs them in parallel.
    while place + 4 <= bytes.endIndex {
      for index in 0..<4 { sum ^= UInt32(bytes[place + index]) << UInt32(8 * index) }
      let (first, second) = (table[768 | Int(sum & 255)], table[512 | Int(sum >> 8 & 255)])
      let (third, fourth) = (table[256 | Int(sum >> 16 & 255)], table[Int(sum >> 24)])
      sum = first ^ second ^ third ^ fourth
      place += 4
    }
    for byte in bytes[place...] {
      sum = table[Int(UInt8(truncatingIfNeeded: sum) ^ byte)] ^ (sum >> 8)
    }
    return ~sum
  }
}
