import Dispatch
import MiniRex
import MiniRexEssentialsAdapters

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

// Reads a file, watches a folder, reads a descriptor to its end, and decodes JSON.
let program = URL(filePath: CommandLine.arguments[0])
let size = try await program.readTask(into: 0) { $0 += $1.count }.value
print(size > 0)
let changes = program.deletingLastPathComponent().changes().subscribe { print($0) }
changes.invalidate()
let numbers = try await PublishedTask<Data, Never>.success(Data("[1]".utf8)).decode([Int].self)
  .value
print(numbers)
for await piece in DispatchSource.reads(from: 0).values(.unbounded) { print(piece) }
