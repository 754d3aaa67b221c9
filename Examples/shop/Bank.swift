import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A bank that takes money over HTTP, or a pretended bank without an address.
struct Bank: Sendable {
  enum Failure: Error {
    case refused
    case busy(status: Int)
    case offline
  }

  let address: URL?

  /// Takes the money once, however often it is asked with the same key.
  ///
  /// - Returns: The receipt.
  func pay(_ charge: Charge, idempotencyKey: Int) async throws -> String {
    guard let address else { return try await pretend(charge) }
    var request = URLRequest(url: address.appending(path: "pay"))
    request.httpMethod = "POST"
    request.setValue("\(idempotencyKey)", forHTTPHeaderField: "Idempotency-Key")
    request.httpBody = try JSONEncoder().encode(charge)
    let (body, response) = try await URLSession.shared.data(for: request)
    switch (response as? HTTPURLResponse)?.statusCode ?? 0 {
    case 200: return String(decoding: body, as: UTF8.self)
    case 402: throw Failure.refused
    case let status: throw Failure.busy(status: status)
    }
  }

  private func pretend(_ charge: Charge) async throws -> String {
    try await Task.sleep(for: .milliseconds(.random(in: 500...3_000)))
    if charge.amount > 1_000 { throw Failure.refused }
    if Int.random(in: 0..<3) == 0 { throw Failure.offline }
    return "receipt \(charge.id)"
  }
}
