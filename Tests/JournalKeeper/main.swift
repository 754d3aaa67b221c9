import CLibrary
import Foundation
import MiniRex
import MiniRexJournal
import MiniRexStore

// Records a ledger until it is killed, for the tests of the journal. The first four modes wait for a line of input.
//
//   journal-keeper send FILE NOTES     writes to NOTES the number of the last `send` that returned
//   journal-keeper threads FILE NOTES  sends on four threads, and writes the flushed numbers to NOTES
//   journal-keeper durable FILE NOTES  sends durably on eight tasks, and writes the numbers of the returned sends to NOTES
//   journal-keeper count FILE NUMBER   sends NUMBER actions, prints the count, and waits
//   journal-keeper fill FILE BYTES     limits files to BYTES, prints the failure, and records again without the limit
//   journal-keeper disk FILE OPTIONS   prints the failure on a file system that is mounted with OPTIONS
//   journal-keeper broken FILE WHEN    prints the failure if `fsync` fails, with WHEN being commit or flush
//   journal-keeper undurable FILE ""   prints the failures of durable sends if `fsync` fails
//   journal-keeper unmade FILE         prints the failure if `fsync` of the folder fails
//   journal-keeper sealed FILE         records three actions, makes the file system read-only, and continues as poor
//   journal-keeper poor FILE           prints the failure of a recording as a user without permissions
//   journal-keeper mounted FILE        prints the failure if the folder of closed files is mounted
//   journal-keeper squash FILE         compacts as a user without permissions, and prints the failure
//   journal-keeper drop FILE           flushes as a user who may not search the folder
//   journal-keeper wander FOLDER       opens a relative path, and flushes from another working directory
//   journal-keeper squeeze FILE NOTES KIND  is like send, and compacts all the time. KIND is latest or everything
//   journal-keeper batch FILE BYTES    limits files to BYTES, and writes 100 commits by one call of write
//   journal-keeper script FILE MODE    flushes and compacts, writes the flushed counts to the file notes beside FILE, and
//                                      prints each failure. MODE is everything, latest, or die, which stops at a failure
//   journal-keeper pay FILE PORT COUNT  performs the payments of COUNT orders with the service at PORT
//   journal-keeper payments FILE MODE  performs payments, and writes the last that began to the file notes beside FILE
//   journal-keeper hold FILE           holds the file until the end of its input

// The test process may be killed before this process.
alarm(1_200)

let arguments = CommandLine.arguments
if arguments[1] == "wander" { unsafe chdir(arguments[2]) }
let file = URL(filePath: arguments[1] == "wander" ? "journal" : arguments[2])

/// Writes to a file without a flush, which survives a kill of the program.
func note(_ number: Int, at place: Int, in notes: Int32) {
  var number = number
  let written = unsafe withUnsafeBytes(of: &number) { bytes in
    unsafe pwrite(notes, bytes.baseAddress, bytes.count, off_t(place * bytes.count))
  }
  if written != MemoryLayout<Int>.size { fatalError("The note was not written.") }
}

func openNotes() -> Int32 { unsafe open(arguments[3], O_RDWR | O_CREAT, 0o644) }

func output(_ text: String) {
  try? FileHandle.standardOutput.write(contentsOf: Data("\(text)\n".utf8))
}

/// Calls `_exit`, because a sanitizer cannot check the process at `exit` under the filter.
func stop(_ text: String? = nil) -> Never {
  if let text { output(text) }
  _exit(text == nil ? 0 : 3)
}

do {
  if arguments[1] == "pay" {
    try await keepTill(file, port: UInt16(arguments[3]) ?? 0, count: Int(arguments[4]) ?? 0)
    stop()
  }
  if arguments[1] == "payments" {
    alarm(60)
    let path = file.deletingLastPathComponent().appending(path: "notes").path
    try await scriptTill(file, notes: unsafe open(path, O_RDWR | O_CREAT, 0o644))
    stop()
  }
  if arguments[1] == "fill" { limitFiles(to: rlim_t(arguments[3])) }
  if arguments[1] == "disk",
    !mountDisk(arguments[3], on: file.deletingLastPathComponent().path)
  {
    stop("no mount")
  }
  if arguments[1] == "sealed" {
    let folder = file.deletingLastPathComponent().path
    if !mountDisk("", on: folder) { stop("no mount") }
    let journal = try Journal<Ledger, LedgerAction>(file)
    let store = Store(Ledger(), reducer: keeping)
    let recording = journal.record(store)
    for number in 1...3 { store.send(action(number)) }
    recording.invalidate()
    withExtendedLifetime(journal) {}
  }
  if arguments[1] == "sealed", !sealDisk(on: file.deletingLastPathComponent().path) {
    stop("no mount")
  }
  if arguments[1] == "mounted" {
    let folder = file.path + ".segments"
    unsafe mkdir(folder, 0o755)
    // The mount remains when the folder is the same.
    if !mountAgain(folder) { stop("no mount") }
    do throws(JournalFailure) {
      _ = try Journal<Ledger, LedgerAction>(file)
      stop("no failure")
    } catch {
      stop("\(error)".replacing(folder, with: "F"))
    }
  }
  if arguments[1] == "unmade", !breakDisk() { stop("no filter") }
  if ["poor", "squash"].contains(arguments[1]) { becomeNobody() }
  let isScript = arguments[1] == "script"
  let journal = try Journal<Ledger, LedgerAction>(
    file, keeping: arguments.last == "latest" ? .latestState : .everything,
    snapshotEvery: isScript ? 3 : 100,
    sync:
      arguments.last == "commit" || arguments[1] == "batch" ? .everyCommit : .onFlush)
  let store = Store(try journal.replay(Ledger(), reducer: keeping), reducer: keeping)
  let recording = journal.record(store)
  let first = journal.lastNumber
  func printFailures() async throws {
    do {
      try await journal.flush()
    } catch {
      output("\(error)")
    }
    output(journal.problem.map { "\($0)" } ?? "no failure")
    output("\(store.state.count) sent, \(journal.lastNumber) written, \(recording.isSubscribed)")
    output("\(try journal.replay(Ledger(), reducer: keeping).count) replayed")
  }
  switch arguments[1] {
  case "batch":
    limitFiles(to: rlim_t(arguments[3]))
    store.send(.down(99))
    try await printFailures()
    stop()
  case "squeeze":
    let notes = openNotes()
    output("recording after \(first)")
    _ = readLine()
    Task { while true { try? await journal.compact() } }
    var number = first
    while true {
      number += 1
      store.send(action(number))
      note(number, at: 0, in: notes)
    }
  case "send":
    let notes = openNotes()
    output("recording after \(first)")
    _ = readLine()
    var number = first
    while true {
      number += 1
      store.send(action(number))
      note(number, at: 0, in: notes)
    }
  case "script":
    alarm(60)
    let notes = unsafe open(
      file.deletingLastPathComponent().appending(path: "notes").path, O_RDWR | O_CREAT, 0o644)
    var second: Subscription?
    func attempt(_ body: () async throws -> Void) async {
      let count = store.state.count
      do {
        try await body()
        note(count, at: 0, in: notes)
      } catch {
        output("\(error)")
        if arguments[3] == "die" { stop() }
        if journal.problem != nil { second = journal.record(store) }
      }
    }
    func send(_ count: Int) {
      for _ in 1...count { store.send(action(store.state.count + 1)) }
    }
    for _ in 1...3 {
      send(4)
      await attempt { try await journal.flush() }
      send(3)
      await attempt { try await journal.compact() }
      send(2)
    }
    await attempt { try await journal.flush() }
    send(2)
    output("\(store.state.count) sent")
    withExtendedLifetime(second) {}
    stop()
  case "threads":
    let notes = openNotes()
    output("recording after \(first)")
    _ = readLine()
    for thread in 0..<4 {
      let sender = Thread {
        var number = store.state.last.count > thread ? store.state.last[thread] : 0
        while true {
          number += 1
          store.send(.thread(thread, number))
        }
      }
      sender.start()
    }
    while true {
      let before = store.state.last
      try await journal.flush()
      for (thread, number) in before.enumerated() { note(number, at: thread, in: notes) }
    }
  case "durable":
    let notes = openNotes()
    output("recording after \(first)")
    _ = readLine()
    try await withThrowingTaskGroup { group in
      for thread in 0..<8 {
        group.addTask {
          var number = store.state.last.count > thread ? store.state.last[thread] : 0
          while true {
            number += 1
            let receipt = try await store.send(.thread(thread, number), in: journal) {
              $0.last[thread]
            }
            if receipt.value != number { fatalError("Another number was read.") }
            note(number, at: thread, in: notes)
          }
        }
      }
      try await group.waitForAll()
    }
  case "count":
    output("recording after \(first)")
    _ = readLine()
    let count = Int(arguments[3]) ?? 0
    for number in first..<(first + count) { store.send(action(number + 1)) }
    output("sent \(count)")
    while readLine() != nil {}
  case "broken":
    if !breakDisk() { stop("no filter") }
    for number in 1...3 { store.send(action(number)) }
    try await printFailures()
    store.send(action(4))
    try await printFailures()
    stop()
  case "undurable":
    if !breakDisk() { stop("no filter") }
    for _ in 1...2 {
      do { try await store.send(.halve, in: journal) } catch { output("\(error)") }
      output("\(store.state.count) sent")
    }
    stop()
  case "squash":
    for number in 1...3 { store.send(action(number)) }
    do { try await journal.compact() } catch { output("\(error)") }
    try await printFailures()
    stop()
  case "drop":
    store.send(.halve)
    becomeNobody()
    try await printFailures()
    stop()
  case "wander":
    store.send(.halve)
    unsafe chdir("/")
    try await printFailures()
    stop()
  case "poor", "sealed":
    // Journals that can only read share the file.
    try Journal<Ledger, LedgerAction>(file).verify(Ledger(), reducer: keeping)
    store.send(.halve)
    try await printFailures()
    stop()
  case "fill", "disk":
    for number in 1...10_000 { store.send(action(number)) }
    try await printFailures()
    if arguments[1] == "disk" { stop() }
    limitFiles(to: nil)
    let second = journal.record(store)
    store.send(.halve)
    try await journal.flush()
    let state = try journal.replay(Ledger(), reducer: keeping)
    output("\(state == store.state), \(second.isSubscribed)")
  default:
    output("held")
    while readLine() != nil {}
  }
  withExtendedLifetime(recording) {}
} catch {
  stop("\(error)")
}
