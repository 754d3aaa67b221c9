import CLibrary
import Foundation
import MiniRex
import MiniRexJournal
import MiniRexStore

/// Orders whose payments are jobs.
struct Till: Codable, Equatable, Sendable {
  var ordered = 0
  var payments = Jobs<Payment>()
  var receipts: [Int] = []
}

struct Payment: Codable, Equatable, Identifiable, Sendable {
  var id: Int
}

enum TillAction: Codable, Equatable, Sendable {
  case ordered
  case paid(Int)
  case payments(JobsAction<Payment>)
}

let paying: Reducer<Till, TillAction> = { till, action in
  switch action {
  case .ordered:
    till.ordered += 1
    till.payments.add(Payment(id: till.ordered))
  case .paid(let id):
    till.receipts.append(id)
    till.payments.remove(id)
  case .payments(let action): till.payments.reduce(action)
  }
  return .none
}

struct Unpaid: Error {}

/// Performs payments with a service, and orders until the till has `count` orders.
func keepTill(_ file: URL, port: UInt16, count: Int) async throws {
  let journal = try Journal<Till, TillAction>(file, sync: .onFlush)
  let store = Store(try journal.replay(Till(), reducer: paying), reducer: paying)
  let recording = journal.record(store)
  let working = store.perform(
    \.payments, TillAction.payments, atMost: 8, retrying: .constant(.milliseconds(1)), in: journal
  ) { payment, _ in
    try await pay(payment.id, port)
    return .paid(payment.id)
  }
  output("recording after \(journal.lastNumber)")
  while store.state.ordered < count {
    store.send(.ordered)
    try await Task.sleep(for: .microseconds(200))
  }
  while !store.state.payments.isEmpty { try await Task.sleep(for: .milliseconds(1)) }
  try await journal.flush()
  output("paid \(store.state.receipts.count)")
  withExtendedLifetime((recording, working)) {}
}

/// Performs payments without a service, and notes the greatest number that began, until the journal fails.
func scriptTill(_ file: URL, notes: Int32) async throws {
  let journal = try Journal<Till, TillAction>(file, snapshotEvery: 20, sync: .onFlush)
  let store = Store(try journal.replay(Till(), reducer: paying), reducer: paying)
  let recording = journal.record(store)
  let last = Shared(0)
  let working = store.perform(
    \.payments, TillAction.payments, atMost: 3, retrying: .constant(.milliseconds(1)), in: journal
  ) { payment, attempt in
    last.note(payment.id, in: notes)
    if payment.id.isMultiple(of: 3), attempt == 1 { throw Unpaid() }
    return .paid(payment.id)
  }
  for _ in 1...5 {
    for _ in 1...4 { store.send(.ordered) }
    while !store.state.payments.isEmpty, journal.failure.current() == .some(nil) {
      try await Task.sleep(for: .milliseconds(1))
    }
  }
  output(journal.failure.current().flatMap { $0 }.map { "\($0)" } ?? "paid")
  withExtendedLifetime((recording, working)) {}
}

/// The greatest number, written to a file.
private final class Shared: Sendable {
  private let number: Lock<Int>

  init(_ number: Int) { self.number = Lock(number) }

  func note(_ new: Int, in notes: Int32) {
    number.withLock { number in
      if new <= number { return }
      number = new
      journal_keeper.note(new, at: 0, in: notes)
    }
  }
}

/// Posts a payment on a new connection, outside the thread pool of Swift tasks.
private func pay(_ id: Int, _ port: UInt16) async throws {
  let isPaid = await withCheckedContinuation { continuation in
    DispatchQueue.global().async { continuation.resume(returning: post("\(id)", port)) }
  }
  if !isPaid { throw Unpaid() }
}

private func post(_ key: String, _ port: UInt16) -> Bool {
  #if canImport(Glibc)
  let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
  #else
  let descriptor = socket(AF_INET, SOCK_STREAM, 0)
  #endif
  defer { close(descriptor) }
  var address = sockaddr_in()
  address.sin_family = sa_family_t(AF_INET)
  address.sin_port = port.bigEndian
  address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
  let isConnected = unsafe withUnsafePointer(to: &address) { pointer in
    unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
      unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
    }
  }
  guard isConnected else { return false }
  let request =
    "POST /pay HTTP/1.1\r\nHost: 127.0.0.1\r\nIdempotency-Key: \(key)\r\nContent-Length: 0\r\n\r\n"
  guard unsafe write(descriptor, request, request.utf8.count) == request.utf8.count else {
    return false
  }
  var answer: [UInt8] = []
  var buffer = [UInt8](repeating: 0, count: 512)
  while true {
    let count = unsafe read(descriptor, &buffer, buffer.count)
    if count <= 0 { break }
    answer += buffer.prefix(count)
  }
  return String(decoding: answer, as: UTF8.self).hasPrefix("HTTP/1.1 200")
}
