import Foundation
import MiniRexStore
import TestSupport
import Testing

@testable import shop

/// Runs the program, kills it, and looks at its orders.
@Suite(.heavy) struct ShopTests {
  private final class Running {
    let child: Child
    let port: UInt16
    let inspector: UInt16

    init(_ folder: Folder, bank: URL) async throws {
      child = try Child(
        [
          "--port", "0", "--inspect", "0", "--journal", folder.path("journal"),
          "--bank", bank.absoluteString,
        ], program: "shop")
      let ports = await child.output.until("inspector: ").compactMap {
        $0.split(separator: ":").last.flatMap { UInt16($0.prefix { $0.isNumber }) }
      }
      port = try #require(ports.first)
      inspector = try #require(ports.last)
    }

    func get(_ path: String) async throws -> String {
      try await response(from: port, to: "GET \(path) HTTP/1.0\r\nConnection: close\r\n\r\n")
    }

    func order(_ customer: String, _ amount: Int) async throws -> String {
      let body = #"{"customer":"\#(customer)","amount":\#(amount)}"#
      return try await response(
        from: port,
        to:
          "POST /orders HTTP/1.0\r\nConnection: close\r\nContent-Length: \(body.utf8.count)\r\n\r\n"
          + body)
    }
  }

  @Test func `an order that was answered before kill -9 is charged after it, once`() async throws {
    let folder = try Folder()
    let keys = Shared<[String]>([])
    let isOpen = Shared(false)
    let bank = try LoopbackServer { connection in
      _ = connection.body()
      keys.append(connection.headers["idempotency-key"] ?? "")
      if !isOpen.value { return connection.waitForEnd() }
      connection.answer(body: Data("paid".utf8))
    }
    defer { bank.stop() }
    do {
      let shop = try await Running(folder, bank: bank.url())
      #expect(try await shop.order("Ann", 5).contains(#""amount":5,"customer":"Ann","id":1"#))
      #expect(try await shop.order("Bob", 7).contains(#""id":2"#))
      await until { Set(keys.value) == ["1", "2"] }
      let metrics = try await response(
        from: shop.inspector, to: "GET /metrics HTTP/1.0\r\nConnection: close\r\n\r\n")
      #expect(metrics.contains(#"state="running"} 2"#))
      shop.child.send(SIGKILL)
      #expect(await shop.child.status() == -SIGKILL)
    }

    isOpen.value = true
    let shop = try await Running(folder, bank: bank.url())
    await until {
      let orders = (try? await shop.get("/orders")) ?? ""
      return orders.components(separatedBy: #""receipt":"paid""#).count == 3
    }
    #expect(try await shop.get("/charges").hasSuffix("[]"))
    #expect(keys.value.filter { $0 == "1" }.count >= 2)
    shop.child.send(SIGTERM)
    #expect(await shop.child.status() == 0)
  }

  @Test func `an order that is refused is given up, and can be tried again`() async throws {
    let folder = try Folder()
    let isSolvent = Shared(false)
    let bank = try LoopbackServer { connection in
      _ = connection.body()
      connection.answer(
        isSolvent.value ? "200 OK" : "402 Payment Required", body: Data("paid".utf8))
    }
    defer { bank.stop() }
    let shop = try await Running(folder, bank: bank.url())
    _ = try await shop.order("Ann", 5)
    await until { (try? await shop.get("/charges"))?.contains(#""isFailed":true"#) == true }

    isSolvent.value = true
    _ = try await response(
      from: shop.port,
      to: "POST /charges/1 HTTP/1.0\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")

    await until { (try? await shop.get("/orders"))?.contains(#""receipt":"paid""#) == true }
    shop.child.send(SIGTERM)
    #expect(await shop.child.status() == 0)
  }
}
