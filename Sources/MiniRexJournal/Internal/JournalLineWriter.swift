#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// Formats lines in a buffer that it reuses.
struct JournalLineWriter {
  private(set) var bytes: [UInt8] = []

  mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

  mutating func appendHeader() {
    appendLine { $0.append("\"journal\":\"MiniRex\",\"version\":1") }
  }

  /// - Parameters:
  ///   - key: `action`, `start` or `snapshot`, or the cause and `state`.
  ///   - payload: JSON without a newline.
  mutating func append(_ number: Int, _ key: String, _ payload: Data) {
    appendLine { line in
      line.append("\"number\":")
      line.append("\(number)")
      line.append(",")
      line.append(key)
      line.append(":")
      line.bytes.append(contentsOf: payload)
    }
  }

  private mutating func appendLine(_ body: (inout Self) -> Void) {
    let start = bytes.count
    append("{\"crc\":\"00000000\",")
    body(&self)
    append("}")
    var sum = Checksum.of(bytes[(start + bodyOffset)...])
    for place in (0..<8).reversed() {
      bytes[start + crcMark.utf8CodeUnitCount + place] = hexDigits[Int(sum & 15)]
      sum >>= 4
    }
    append("\n")
  }

  private mutating func append(_ text: String) {
    bytes.append(contentsOf: text.utf8)
  }
}

let hexDigits = Array("0123456789abcdef".utf8)
