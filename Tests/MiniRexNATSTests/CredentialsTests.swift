#if NATS
import Foundation
import MiniRex
import MiniRexNATS
import MiniRexTesting
import TestSupport
import Testing

@Suite(.heavy)
struct CredentialsTests {
  @Test func `N9 the server accepts an NKey, and rejects another`() async throws {
    let (right, wrong) = (try await NKey(), try await NKey())
    let server = try await NATSServer(
      "authorization { users: [ { nkey: \(right.publicKey) } ] }")
    func connection(_ key: NKey) -> NATSConnection {
      var options = NATSOptions()
      options.credentials = .nkey(key.publicKey, seedFile: key.seedFile)
      return NATSConnection(server.url, options: options)
    }
    let (allowed, refused) = (connection(right), connection(wrong))

    #expect(await allowed.isEventually(.connected))
    #expect(await closing(refused) == .notAuthorized)
    #expect(!"\(refused.status.current() as Any)".contains(wrong.seed))
    await allowed.close()
  }

  @Test func `N9 the server accepts a credentials file, and rejects another`() async throws {
    let (authority, account) = (try await NKey(of: .operator), try await NKey(of: .account))
    let (user, stranger) = (try await NKey(), try await NKey(of: .account))
    let server = try await NATSServer(
      """
      operator: \(try await authority.token(for: authority, #"{"type":"operator","version":2}"#))
      resolver: MEMORY
      resolver_preload: { \(account.publicKey): \(try await authority.token(for: account, limits("account"))) }
      """)
    let folder = try Folder()
    func connection(vouchedForBy key: NKey, _ name: String) async throws -> NATSConnection {
      let token = try await key.token(for: user, limits("user"))
      var options = NATSOptions()
      options.credentials = .file(
        try folder.write(
          """
          -----BEGIN NATS USER JWT-----
          \(token)
          ------END NATS USER JWT------

          -----BEGIN USER NKEY SEED-----
          \(user.seed)
          ------END USER NKEY SEED------

          """, to: name))
      return NATSConnection(server.url, options: options)
    }
    let allowed = try await connection(vouchedForBy: account, "right")
    let refused = try await connection(vouchedForBy: stranger, "wrong")

    #expect(await allowed.isEventually(.connected))
    #expect(await closing(refused) == .notAuthorized)
    #expect(!"\(refused.status.current() as Any)".contains(user.seed))
    let recorder = Recorder(allowed.broadcaster(of: Int.self, on: "numbers"))
    try allowed.publish(1, on: "numbers")
    #expect(await recorder.next().first?.payload == 1)
    await allowed.close()
  }

  private func limits(_ type: String) -> String {
    """
    {"type":"\(type)","version":2,"subs":-1,"data":-1,"payload":-1,
    "limits":{"subs":-1,"data":-1,"payload":-1,"imports":-1,"exports":-1,"conn":-1,"leaf":-1}}
    """
  }

  private func closing(_ nats: NATSConnection) async -> NATSError? {
    await nats.status.firstResult { status in
      if case .closed(let error?) = status { error } else { nil }
    }
  }
}
#endif
