#if NATS
import Foundation
import MiniRex
import MiniRexFoundationAdapters

/// Programs that are restarted a second after they end.
final class Processes: Sendable {
  private let queue = DispatchQueue(label: "processes")
  private let bag = SubscriptionBag()
  private let ids = PublishedProperty<[String: pid_t]>([:])
  private let isOver = PublishedProperty(false)

  /// A shell prints its process ID and then becomes the program.
  func keep(_ name: String, _ program: URL, _ arguments: [String]) {
    let script = #"echo "$$"; exec "$@" 2>&1"#
    Process.task(URL(filePath: "/bin/sh"), ["-c", script, name, program.path] + arguments)
      .subscribe { [weak self] update in
        switch update {
        case .progress(let line): self?.take(line.text, of: name)
        case .finished: self?.startAgain(name, program, arguments)
        }
      }.store(in: bag)
  }

  /// Returns when the program has a process.
  func haveStarted(_ name: String) async {
    for await ids in ids.publisher.values(.unbounded) where ids[name] != nil { return }
  }

  func end() {
    isOver.value = true
    for id in ids.value.values { kill(id, SIGKILL) }
  }

  private func take(_ line: String, of name: String) {
    guard let id = pid_t(line) else { return log("\(name): \(line)") }
    ids.modify { $0[name] = id }
    log("\(name): process \(id)")
  }

  private func startAgain(_ name: String, _ program: URL, _ arguments: [String]) {
    if isOver.value { return }
    log("\(name): ended and restarts in a second")
    queue.asyncAfter(deadline: .now() + .seconds(1)) { [weak self] in
      self?.keep(name, program, arguments)
    }
  }

  private func log(_ text: String) {
    queue.async {
      print(text)
      fflush(nil)
    }
  }
}
#endif
