import TestSupport
import Testing

@testable import MiniRexPageServer

/// Creates requests with random changes, and divides them into random pieces.
struct RequestMutator {
  private static let hostile = HostileRequest.all.map { Array($0.text.utf8) }
  private static let valid: [[UInt8]] =
    [
      "GET / HTTP/1.1\r\nHost: localhost:8080\r\nAccept: text/html\r\n\r\n",
      "GET /caf%C3%A9/a%20b?from=1&to=2 HTTP/1.0\r\nhost: 127.0.0.1\r\n\r\n",
      "POST / HTTP/1.1\r\nHost: LOCALHOST\r\nOrigin: http://localhost\r\nContent-Length: 5\r\n\r\nhello",
      "POST /x HTTP/1.0\r\nContent-Length: 3\r\nX: \u{2028} é \t\r\n\r\nabcGET / HTTP/1.0\r\n\r\n",
    ].map { Array($0.utf8) }
  private static let words: [[UInt8]] = [
    "\r\n", "\r\n\r\n", "\r", "\n", " ", "\t", ":", "?", "%", "%41", "%ff", "/", "é", "\u{2028}",
    "\u{85}",
    "\0", "\u{7F}", "HTTP/1.1", "Host: localhost\r\n", "Origin: http://localhost\r\n",
    "Sec-Fetch-Site: same-origin\r\n", "Sec-Fetch-Site: cross-site\r\n", "Sec-Fetch-Site: none\r\n",
    "Content-Length: 7\r\n", "Transfer-Encoding: chunked\r\n", "9", "127.0.0.1", "X: a\r\n",
    "&token=",
  ].map { Array($0.utf8) }
  private var random: SeededGenerator

  init(seed: UInt64) { random = SeededGenerator(seed: seed) }

  mutating func next() -> [UInt8] {
    var bytes = seed()
    for _ in 0..<Int.random(in: 0...6, using: &random) { change(&bytes) }
    return bytes
  }

  private mutating func seed() -> [UInt8] {
    let seeds = Bool.random(using: &random) ? Self.valid : Self.hostile
    return seeds.randomElement(using: &random) ?? []
  }

  private mutating func change(_ bytes: inout [UInt8]) {
    let place = Int.random(in: 0...bytes.count, using: &random)
    let end = min(bytes.count, place + Int.random(in: 0...12, using: &random))
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<20 where place < bytes.count: bytes[place] = .random(in: 0...255, using: &random)
    case 20..<30: bytes.insert(.random(in: 0...255, using: &random), at: place)
    case 30..<60:
      bytes.insert(contentsOf: Self.words.randomElement(using: &random) ?? [], at: place)
    case 60..<75: bytes.removeSubrange(place..<end)
    case 75..<85: bytes.insert(contentsOf: bytes[place..<end], at: place)
    case 85..<98:
      let other = seed()
      bytes = bytes.prefix(place) + other.suffix(Int.random(in: 0...other.count, using: &random))
    // Sizes around the limit of a head.
    default:
      let count = Int.random(in: 0...9_000, using: &random)
      bytes.insert(
        contentsOf: repeatElement(
          [0x20, 0x61, 0x25].randomElement(using: &random) ?? 0, count: count), at: place)
    }
  }

  mutating func pieces(of bytes: [UInt8]) -> [[UInt8]] {
    var (rest, pieces): (ArraySlice<UInt8>, [[UInt8]]) = (bytes[...], [])
    let size = [1, 3, 20, 400].randomElement(using: &random) ?? 1
    while !rest.isEmpty {
      let piece = rest.prefix(.random(in: 1...size * (1 + rest.count / 300), using: &random))
      pieces.append(Array(piece))
      rest = rest.dropFirst(piece.count)
    }
    return pieces
  }
}

@Suite(.light) struct RequestFuzzTests {
  /// `MINIREX_SCALE=500` tests 1,000,000 requests.
  @Test(arguments: 0..<4)
  func `a mutated request has the result of the reference, in pieces of any size`(seed: Int) {
    var mutator = RequestMutator(seed: UInt64(seed))
    let limits = Limits()
    var counts = (accepted: 0, refused: 0)
    for _ in 0..<scaled(500) {
      let bytes = mutator.next()
      let wanted = referenceResult(bytes, limits)
      var whole = RequestParser(limits)
      let result = whole.take(bytes)?.map(\.fields)
      guard result == wanted else {
        let text = String(decoding: bytes, as: UTF8.self).debugDescription
        Issue.record("\(text): \(String(describing: result)), not \(String(describing: wanted))")
        return
      }
      var divided = RequestParser(limits)
      var last: Result<Fields, Status>?
      for piece in mutator.pieces(of: bytes) where last == nil {
        last = divided.take(piece)?.map(\.fields)
      }
      guard last == wanted else {
        Issue.record("\(bytes): \(String(describing: last)) in pieces")
        return
      }
      if case .success = result { counts.accepted += 1 }
      if case .failure = result { counts.refused += 1 }
    }
    // Requests that are all accepted, or all refused, would test little.
    #expect(min(counts.accepted, counts.refused) >= scaled(500) / 20)
  }
}
