import Foundation

func fail(_ reason: String, status: Int32 = 1) -> Never {
  FileHandle.standardError.write(Data("\(reason)\n".utf8))
  exit(status)
}

// Each process of the fleet is this program, told what it is.
let words = Array(CommandLine.arguments.dropFirst())
switch (words.first, words.count) {
case ("--follow", 4): await follow(words[2], as: words[1], over: words[3])
case ("--page", 3): await showPage(port: UInt16(words[1]) ?? 0, over: words[2])
case (nil, _): await runFleet(port: 8080)
case ("--port", 2):
  guard let port = UInt16(words[1]) else { fallthrough }
  await runFleet(port: port)
default: fail("usage: fleet [--port NUMBER]", status: 2)
}
