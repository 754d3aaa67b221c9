import Foundation
import MiniRex
import MiniRexFoundationAdapters

/// Programs that are started again a second after they have ended.
final class Processes: Sendable {
  private let queue = DispatchQueue(label: "processes")
  private let bag = SubscriptionBag()
  private let ids = PublishedProperty<[String: pid_t]>([:])
  private let isOver = PublishedProperty(false)

  /// A shell tells the number of the process that the program then is.
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

  func end() {
    isOver.value = true
    for id in ids.value.values { kill(id, SIGKILL) }
  }

  private func take(_ line: String, of name: String) {
    guard let id = pid_t(line) else { return say("\(name): \(line)") }
    ids.modify { $0[name] = id }
    say("\(name): process \(id)")
  }

  private func startAgain(_ name: String, _ program: URL, _ arguments: [String]) {
    if isOver.value { return }
    say("\(name): has ended, and is started again")
    queue.asyncAfter(deadline: .now() + .seconds(1)) { [weak self] in
      self?.keep(name, program, arguments)
    }
  }

  private func say(_ text: String) {
    queue.async {
      print(text)
      fflush(nil)
    }
  }
}
