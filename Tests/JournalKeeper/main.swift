import CLibrary
import Foundation
import MiniRex
import MiniRexJournal
import MiniRexStore

// Records a ledger until it is killed, for the tests of the journal. The first three begin when a line comes
// from their input.
//
//   journal-keeper send FILE NOTES     says in NOTES which number the last `send` had that has returned
//   journal-keeper threads FILE NOTES  the same of four threads, and of what was flushed
//   journal-keeper count FILE NUMBER   sends so many, says so, and waits
//   journal-keeper fill FILE BYTES     no file gets longer than that; prints what the journal says of it,
//                                      then it may, and it records again
//   journal-keeper disk FILE OPTIONS   the first half of it on a file system of its own, mounted with them
//   journal-keeper broken FILE WHEN    no line gets to the disk; WHEN is commit or flush
//   journal-keeper unmade FILE         no folder gets to the disk
//   journal-keeper poor FILE           the same as hold, without the rights of root
//   journal-keeper hold FILE           keeps the file until its input ends

// A test run that is killed leaves it behind.
alarm(1_200)

let arguments = CommandLine.arguments
let file = URL(filePath: arguments[2])

/// Where it survives the program, but not the machine.
func note(_ number: Int, at place: Int, in notes: Int32) {
  var number = number
  let written = unsafe withUnsafeBytes(of: &number) { bytes in
    unsafe pwrite(notes, bytes.baseAddress, bytes.count, off_t(place * bytes.count))
  }
  if written != MemoryLayout<Int>.size { fatalError("The note was not taken.") }
}

func openNotes() -> Int32 { unsafe open(arguments[3], O_RDWR | O_CREAT, 0o644) }

func say(_ text: String) {
  try? FileHandle.standardOutput.write(contentsOf: Data("\(text)\n".utf8))
}

/// Not `exit`, where a sanitizer would look at a program that may no longer be looked at.
func stop(_ text: String? = nil) -> Never {
  if let text { say(text) }
  _exit(text == nil ? 0 : 3)
}

do {
  if arguments[1] == "fill" { limitFiles(to: rlim_t(arguments[3])) }
  if arguments[1] == "disk",
    !mountDisk(arguments[3], on: file.deletingLastPathComponent().path)
  {
    stop("no mount")
  }
  if arguments[1] == "unmade", !breakDisk() { stop("no filter") }
  if arguments[1] == "poor" { becomeNobody() }
  let journal = try Journal<Ledger, LedgerAction>(
    file, snapshotEvery: 100, synchronising: arguments.last == "commit" ? .everyCommit : .onFlush)
  let store = Store(try journal.replay(Ledger(), reducer: keeping), reducer: keeping)
  let recording = journal.record(store)
  let first = journal.lastNumber
  func sayFailures() async throws {
    do {
      try await journal.flush()
    } catch {
      say("\(error)")
    }
    say(journal.problem.map { "\($0)" } ?? "no failure")
    say("\(store.state.count) sent, \(journal.lastNumber) written, \(recording.isSubscribed)")
    say("\(try journal.replay(Ledger(), reducer: keeping).count) replayed")
  }
  switch arguments[1] {
  case "send":
    let notes = openNotes()
    say("recording after \(first)")
    _ = readLine()
    var number = first
    while true {
      number += 1
      store.send(action(number))
      note(number, at: 0, in: notes)
    }
  case "threads":
    let notes = openNotes()
    say("recording after \(first)")
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
  case "count":
    say("recording after \(first)")
    _ = readLine()
    let count = Int(arguments[3]) ?? 0
    for number in first..<(first + count) { store.send(action(number + 1)) }
    say("sent \(count)")
    while readLine() != nil {}
  case "broken":
    if !breakDisk() { stop("no filter") }
    for number in 1...3 { store.send(action(number)) }
    try await sayFailures()
    store.send(action(4))
    try await sayFailures()
    stop()
  case "fill", "disk":
    for number in 1...10_000 { store.send(action(number)) }
    try await sayFailures()
    if arguments[1] == "disk" { stop() }
    limitFiles(to: nil)
    let second = journal.record(store)
    store.send(.halve)
    try await journal.flush()
    let state = try journal.replay(Ledger(), reducer: keeping)
    say("\(state == store.state), \(second.isSubscribed)")
  default:
    say("held")
    while readLine() != nil {}
  }
  withExtendedLifetime(recording) {}
} catch {
  stop("\(error)")
}
