#if NATS
import Foundation

func fail(_ reason: String, status: Int32 = 1) -> Never {
  FileHandle.standardError.write(Data("\(reason)\n".utf8))
  exit(status)
}

// Each process of the fleet runs this program, with arguments for its role.
let words = Array(CommandLine.arguments.dropFirst())
switch (words.first, words.count) {
case ("--clean", 3): await watch(URL(filePath: words[1]), of: pid_t(words[2]) ?? 0)
case ("--work", 4):
  try await work(as: words[1], over: words[2], until: pid_t(words[3]) ?? 0)
case ("--page", 4):
  try await showPage(port: UInt16(words[1]) ?? 0, over: words[2], until: pid_t(words[3]) ?? 0)
case (nil, _): await runFleet(port: 8080)
case ("--port", 2):
  guard let port = UInt16(words[1]) else { fallthrough }
  await runFleet(port: port)
default: fail("usage: fleet [--port NUMBER]", status: 2)
}
#else
print("Build with the trait: swift run --traits NATS fleet")
#endif
