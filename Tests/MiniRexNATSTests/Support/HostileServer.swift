#if NATS
import Foundation
import TestSupport

/// A server that answers JetStream's requests, and sends messages, with forged subjects, headers, numbers, and bytes.
///
/// The framing is valid, so that the connection stays.
final class HostileServer: Sendable {
  struct Interest: Sendable {
    let subject: String
    let id: Substring
    var delivered = 0
  }

  struct Client: Sendable {
    var interests: [Interest] = []
    var forger: Forger
    var count = 0
    var isHonest = false
    /// The number of subscriptions of one connection after which it closes the connection once.
    var closesAfter: Int?
    var rest: [UInt8] = []
  }

  let address: Address
  private let socket: Socket
  private let client: Shared<Client>
  private let connection = Shared<Socket?>(nil)

  /// - Parameter closesAfter: The number of subscriptions after which an honest server closes a connection once.
  init(seed: UInt64 = 0, closesAfter: Int? = nil) throws {
    (socket, address) = try Socket.listening()
    client = Shared(
      Client(
        forger: Forger(seed: seed), isHonest: closesAfter != nil, closesAfter: closesAfter))
    socket.acceptAll { [weak self] in self?.serve($0) }
  }

  deinit {
    shutdown(socket.descriptor, Int32(SHUT_RDWR))
    connection.value.map { _ = shutdown($0.descriptor, Int32(SHUT_RDWR)) }
  }

  /// The number of forged messages.
  var count: Int { client.change { $0.count } }

  private func serve(_ socket: Socket) {
    client.change { ($0.interests, $0.rest) = ([], []) }
    connection.value = socket
    socket.send(
      #"INFO {"server_id":"a","version":"2.12.0","headers":true,"jetstream":true,"#
        + #""max_payload":1048576}"# + "\r\n")
    Thread.detachNewThread { [weak self] in
      while let bytes = socket.receive() {
        guard let self else { return }
        let answer = take(bytes)
        send(answer)
      }
    }
  }

  /// Returns the answers to the complete commands.
  private func take(_ bytes: [UInt8]) -> [UInt8] {
    client.change { client in
      client.rest += bytes
      var (answer, place): ([UInt8], Int) = ([], 0)
      while let end = client.rest[place...].firstIndex(of: 10) {
        let line = String(decoding: client.rest[place..<end], as: UTF8.self)
        let words = line.split { " \r".contains($0) }
        var next = end + 1
        if words.first?.hasSuffix("PUB") == true {
          next += (words.last.flatMap { Int($0) } ?? 0) + 2
          if next > client.rest.count { break }
          // With a reply subject.
          if words.count == (words[0] == "PUB" ? 4 : 5) {
            answer += client.answer(String(words[1]), String(words[2]))
          }
        } else if words.first == "PING" {
          answer += Array("PONG\r\n".utf8)
        } else if words.first == "SUB", words.count > 2 {
          client.interests.append(Interest(subject: String(words[1]), id: words[words.count - 1]))
          if client.interests.count == client.closesAfter {
            client.closesAfter = nil
            answer += Array("-ERR 'Unknown'\r\n".utf8)
          }
        } else if words.first == "UNSUB", words.count > 1 {
          client.interests.removeAll { $0.id == words[1] }
        }
        place = next
      }
      client.rest.removeFirst(place)
      return answer
    }
  }

  /// Sends a forged message to each subscription.
  func flood() {
    let bytes = client.change { client in
      client.interests.indices.flatMap { client.message(to: $0) }
    }
    send(bytes)
  }

  /// One thread at a time sends, so that no message is inside another.
  private func send(_ bytes: [UInt8]) { connection.change { $0?.send(bytes) } }

  /// Ends the forging.
  func recant() { client.change { $0.isHonest = true } }

  /// Sends an honest message to the subscriptions of a subject, or to each with its subject.
  func send(_ payload: String, on subject: String? = nil) {
    let bytes = client.change { client in
      client.interests.filter { subject ?? $0.subject == $0.subject }.flatMap {
        frame($0.subject, $0.id, "", [], Array(payload.utf8))
      }
    }
    send(bytes)
  }
}

extension HostileServer.Client {
  private static let created = #""created":"2026-11-27T01:02:03.123456789Z""#
  private static let stream =
    #"{\#(created),"config":{"name":"board","subjects":["board"],"max_msgs":-1,"max_bytes":-1,"#
    + #""max_age":0,"max_msgs_per_subject":-1,"storage":"file","num_replicas":1,"discard":"old","#
    + #""retention":"limits","duplicate_window":120000000000},"#
    + #""state":{"messages":3,"first_seq":1,"last_seq":3,"last_ts":"2026-11-27T01:02:03.1Z"}}"#
  private static let consumer =
    #"{"name":"c",\#(created),"num_pending":2,"delivered":{"consumer_seq":0,"stream_seq":0}}"#
  /// With the header of an entry of a replica.
  static let stored =
    #"{"message":{"subject":"board","seq":3,"time":"2026-11-27T01:02:03.1Z","data":"eA==","#
    + #""hdrs":"TkFUUy8xLjANCk1pbmlSZXgtUmVwbGljYTogYSAxIDANCg0K"}}"#
  static let refusal =
    #"{"error":{"code":400,"err_code":10071,"description":"wrong last sequence: 7"}}"#
  static let head =
    #"{"snapshots":[{"sequence":9,"time":7,"id":"9-1","count":1,"first":4,"checksum":5}]}"#
  private static let report =
    #"{"name":"billing","version":"1.0.0","process":1,"processor":0.5,"memory":4096}"#
  private static let headers = [
    "NATS/1.0 503\r\n\r\n", "NATS/1.0 100 Idle Heartbeat\r\nNats-Last-Consumer: 3\r\n\r\n",
    "NATS/1.0 100 FlowControl Request\r\nNats-Consumer-Stalled: $JS.FC.board.c.1\r\n\r\n",
    "NATS/1.0\r\nKV-Operation: DEL\r\n\r\n", "NATS/1.0\r\nNats-TTL: 3s\r\n\r\n",
    "NATS/1.0\r\nNats-Service-Error: no\r\nNats-Service-Error-Code: 404\r\n\r\n",
    "NATS/1.0\r\nMiniRex-Replica: origin 3 2 7\r\n\r\n",
    "NATS/1.0\r\ntraceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\r\n\r\n",
  ]

  /// Answers a request with a forged message.
  fileprivate mutating func answer(_ subject: String, _ reply: String) -> [UInt8] {
    guard !isHonest, let inbox = interests.first(where: { isMatch($0.subject, reply) }) else {
      return []
    }
    count += 1
    let text =
      switch subject {
      case _ where forger.random.next() % 8 == 0: Self.refusal
      case _ where subject.contains("STREAM.INFO"): Self.stream
      case _ where subject.contains("MSG.GET"): Self.stored
      case _ where subject.contains("CONSUMER"): Self.consumer
      default: #"{"stream":"board","seq":12}"#
      }
    // A consumer needs three valid answers.
    let body = forger.random.next() % 4 == 0 ? forger.forge(text) : Data(text.utf8)
    return frame(reply, inbox.id, "", [], [UInt8](body))
  }

  fileprivate mutating func message(to index: Int) -> [UInt8] {
    if isHonest { return [] }
    count += 1
    let interest = interests[index]
    let isForged = forger.random.next() % 3 == 0
    interests[index].delivered += 1
    let number = interest.delivered + 1
    var subject = interest.subject.replacing("*", with: "key").replacing(">", with: "\(number)")
    if forger.random.next() % 8 == 0 {
      subject += [".progress", ".probe", ".gone._INBOX.minirex-1.a"][number % 3]
    }
    var reply = "$JS.ACK.board.c.1.\(number).\(number).1764205323100000000.\(number % 3)"
    if forger.random.next() % 8 == 0 { reply = ["", "_INBOX.minirex-1.a.1"][number % 2] }
    var block = Self.headers[Int(forger.random.next() % UInt64(Self.headers.count))]
    if forger.random.next() % 2 == 0 { block = "" }
    let bodies = ["7", #""a""#, #"{"moved":{"_0":2}}"#, Self.head, Self.report, "", "\0\0\0\u{1}x"]
    let body = bodies[max(0, Int(forger.random.next() % 12) - 5)]
    if !isForged {
      return frame(subject, interest.id, reply, Array(block.utf8), Array(body.utf8))
    }
    switch forger.random.next() % 4 {
    case 0: subject = String(decoding: forger.forge(subject), as: UTF8.self)
    case 1: reply = String(decoding: forger.forge(reply), as: UTF8.self)
    case 2:
      return frame(
        subject, interest.id, reply, [UInt8](forger.forge(block)), Array(body.utf8))
    default: break
    }
    return frame(subject, interest.id, reply, Array(block.utf8), [UInt8](forger.forge(body)))
  }

  private func isMatch(_ filter: String, _ subject: String) -> Bool {
    filter == subject || filter.hasSuffix(">") && subject.hasPrefix(filter.dropLast())
  }
}

/// Returns a message for a client.
private func frame(
  _ subject: String, _ id: Substring, _ reply: String, _ headers: [UInt8], _ payload: [UInt8]
) -> [UInt8] {
  // A space or a line break would end the connection.
  let subject = subject.utf8.filter { $0 > 0x20 }.prefix(500)
  let reply = reply.utf8.filter { $0 > 0x20 }.prefix(500)
  let head = headers.isEmpty ? "MSG " : "HMSG "
  let sizes = headers.isEmpty ? "" : "\(headers.count) "
  var bytes = Array(head.utf8) + (subject.isEmpty ? [0x61] : subject) + Array(" \(id) ".utf8)
  if !reply.isEmpty { bytes += reply + [0x20] }
  return bytes + Array("\(sizes)\(headers.count + payload.count)\r\n".utf8) + headers + payload
    + [13, 10]
}
#endif
