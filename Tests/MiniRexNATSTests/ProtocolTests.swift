#if NATS
import Foundation
import MiniRex
import MiniRexNATS
import MiniRexTesting
import TestSupport
import Testing

@Suite(.heavy)
struct ProtocolTests {
  private static let evil = "x 2\r\nhi\r\nPUB EVIL 4\r\nEVIL\r\nPUB y"

  @Test func `N9 a reply subject cannot inject a command`() async throws {
    let server = try await NATSServer()
    let nats = NATSConnection(server.url)
    let all = Recorder(nats.broadcaster(of: String.self, on: ">"))
    await nats.isEventually(.connected)

    for subject in [Self.evil, "", " ", "a b", "a..b", "a.*", ">", "a\0b", "a\u{7F}"] {
      #expect(throws: NATSError.invalidSubject(subject)) {
        try nats.publish("", on: "a", replySubject: subject)
      }
    }
    try nats.publish("end", on: "end")

    #expect(await all.next().map(\.payload) == ["end"])
    await nats.close()
  }

  @Test func `N9 random strings never inject a command`() async throws {
    let server = try await NATSServer("debug: true\ntrace: true")
    let (nats, witness) = (NATSConnection(server.url), NATSConnection(server.url))
    let status = Recorder(nats.status)
    let all = Recorder(witness.broadcaster(of: String.self, on: ">"))
    await nats.isEventually(.connected)
    try await witness.areSubscribed()
    _ = await all.next()
    var sent: [NATSMessage<String>] = []
    let bag = SubscriptionBag()

    for number in 0..<scaled(20_000) {
      let message = NATSMessage(
        payload: "\(number)", subject: random(),
        headers: NATSHeaders(
          (0..<Int.random(in: 0...2)).map { _ in .init(name: random(), value: random()) }),
        replySubject: Bool.random() ? random() : nil)
      do throws(NATSError) {
        try nats.publish(
          message.payload, on: message.subject, headers: message.headers,
          replySubject: message.replySubject)
        sent.append(message)
      } catch {
        switch error {
        case .invalidSubject, .invalidHeader, .subjectTooLong: break
        default: Issue.record("\(error)")
        }
      }
      if number % 20 == 0 {
        nats.broadcaster(of: Int.self, on: random(), queue: Bool.random() ? random() : nil)
          .subscribe { _ in }.store(in: bag)
      }
    }
    try nats.publish("end", on: "end")

    var seen: [NATSMessage<String>] = []
    while seen.last?.payload != "end", !Task.isCancelled { seen += await all.next() }
    #expect(seen.count == sent.count + 1)
    for (seen, sent) in zip(seen, sent) {
      #expect(seen.subject == sent.subject)
      #expect(seen.payload == sent.payload)
      #expect(seen.replySubject == sent.replySubject)
      #expect(lines(seen.headers) == lines(sent.headers))
    }
    #expect(status.updates == [.connecting, .connected] || status.updates == [.connected])
    let log = server.log
    for command in ["PUB", "HPUB", "SUB", "UNSUB"] {
      #expect(!log.contains("<<- [\(command) EVIL"))
    }
    #expect(!log.contains("[ERR]"))
    withExtendedLifetime(bag) {}
    await nats.close()
    await witness.close()
  }

  @Test func `N9 random names, users, and passwords never break CONNECT`() async throws {
    let server = try await NATSServer("debug: true\ntrace: true")
    let secret = #"pa"ss\wo"#
    let locked = try await NATSServer(
      #"authorization { user: "us\"er\\", password: "pa\"ss\\wo" }"#)
    var names: Set<String> = []
    for number in 0..<scaled(300) {
      // The log of a server redacts passwords, and the redaction damages the surrounding text.
      let isOpen = number % 2 == 0
      var options = NATSOptions()
      let (name, user, password) = (random(), random(), random())
      options.name = name
      if isOpen { options.credentials = .user(user, password: password) }
      options.reconnectAttempts = 1
      let nats = NATSConnection(server.url, options: options)
      let status = await nats.status.firstResult { $0 == .connecting ? nil : $0 }
      if (isOpen ? [name, user, password] : [name]).contains(where: { $0.utf8.count > 1_000 }) {
        guard case .closed(.invalidOptions)? = status else {
          Issue.record("\(status as Any)")
          continue
        }
      } else {
        #expect(status == .connected)
        if !isOpen, !name.contains("pass") { names.insert(name) }
      }
      await nats.close()
    }
    var options = NATSOptions()
    options.credentials = .user(#"us"er\"#, password: secret)
    options.reconnectAttempts = 2
    let nats = NATSConnection(locked.url, options: options)

    #expect(await nats.isEventually(.connected))
    let seen = try server.log.split(separator: "\n").compactMap { line -> String? in
      guard let start = line.range(of: "[CONNECT "), !line.contains("pass") else {
        return nil
      }
      let json = Data(line[start.upperBound...].dropLast().utf8)
      let object = try JSONSerialization.jsonObject(with: json) as? [String: Any]
      return object?["name"] as? String
    }
    #expect(Set(seen) == names)
    #expect(!server.log.contains("[ERR]"))
    await nats.close()
  }

  private func lines(_ headers: NATSHeaders) -> [String] {
    headers.fields.map {
      "\($0.name): \($0.value.trimmingCharacters(in: CharacterSet(charactersIn: " \t")))"
    }
  }

  /// Returns a random text, usually a subject, with special characters of lines, JSON, and
  /// subjects.
  private func random() -> String {
    if Int.random(in: 0..<3) > 0 {
      return (0..<Int.random(in: 1...3)).map { _ in String("abcé-_$#\"\\{}".randomElement() ?? "a")
      }
      .joined(separator: ".")
    }
    let pieces = [
      "a", "b", ".", "*", ">", " ", "\t", "\r", "\n", "\r\n", "\0", "\"", "\\", ":", "é",
      "\u{2028}",
      "\u{85}", "\u{7F}", "\u{1}", "{", "}", Self.evil, "\r\nSUB EVIL 9\r\n", "\",\"pass\":\"EVIL",
      String(repeating: "a", count: 4_090),
    ]
    return (0..<Int.random(in: 0...5)).map { _ in pieces.randomElement() ?? "" }.joined()
  }
}
#endif
