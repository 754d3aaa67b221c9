import MiniRexPageServer

// Parses requests of each kind in two sizes, so that Valgrind counts the instructions of each call.

func repeated(_ text: String, _ size: Int) -> String {
  String(repeating: text, count: size / text.utf8.count)
}

let kinds: [(name: String, text: (Int) -> String)] = [
  ("blanks", { "GET / HTTP/1.0\r\nX: \(repeated(" ", $0))\u{2028}\r\n\r\n" }),
  ("inner blanks", { "GET / HTTP/1.0\r\nX: a\(repeated(" \t", $0))b\r\n\r\n" }),
  ("headers", { "GET / HTTP/1.0\r\n\(repeated("a:b\r\n", $0))\r\n" }),
  ("colons", { "GET / HTTP/1.1\r\nHost: \(repeated(":1", $0))\r\n\r\n" }),
  ("dots", { "GET / HTTP/1.1\r\nHost: \(repeated("1.", $0))\r\n\r\n" }),
  ("name", { "GET / HTTP/1.0\r\n\(repeated("a", $0))\r\n\r\n" }),
  ("path", { "GET /\(repeated("%41/", $0)) HTTP/1.0\r\n\r\n" }),
  ("parameters", { "GET /?\(repeated("&token=a", $0)) HTTP/1.0\r\n\r\n" }),
  ("words", { "GET / \(repeated("/ ", $0)) HTTP/1.0\r\n\r\n" }),
  ("unfinished", { "GET / HTTP/1.0\r\na: \(repeated("\u{85}", $0))" }),
]

/// Returns the number of results when the request is parsed in one piece and byte by byte.
@inline(never) func countedParse(_ bytes: [UInt8]) -> Int {
  var (whole, divided) = (RequestParser(Limits()), RequestParser(Limits()))
  var results = whole.take(bytes) == nil ? 0 : 1
  for byte in bytes where divided.take([byte]) != nil {
    results += 1
    break
  }
  return results
}

let preparation = Array("GET / HTTP/1.1\r\nHost: a\r\n\r\n".utf8)
let requests = kinds.flatMap { kind in
  [1_900, 3_800].map { (kind.name, Array(kind.text($0).utf8)) }
}
// The first call binds symbols lazily. Valgrind writes the last count at the last call.
_ = countedParse(preparation)
for (name, bytes) in requests { print("\(name), \(bytes.count) bytes", countedParse(bytes)) }
_ = countedParse(preparation)
