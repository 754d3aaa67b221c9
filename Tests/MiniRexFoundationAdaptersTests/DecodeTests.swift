import Foundation
import MiniRex
import MiniRexFoundationAdapters
import MiniRexTesting
import TestSupport
import Testing

@Suite(.light) struct DecodeTests {
  struct User: Codable, Equatable { var firstName: String }
  struct Lost: Error, Equatable {}

  let json = Data(#"{"firstName": "Ada"}"#.utf8)

  @Test func `decode emits the decoded value`() async throws {
    let task = PublishedTask<Data, Never>.success(json).decode(User.self)

    #expect(try await task.value == User(firstName: "Ada"))
  }

  @Test func `decode passes progress through`() async throws {
    let task = ProgressiveTask<Int, Data, Lost>.sequence([1, 2], .success(json)).decode(User.self)

    let updates = await Recorder(task).all()

    #expect(updates.progress == [1, 2])
    #expect(try updates.result?.get() == User(firstName: "Ada"))
  }

  @Test func `a custom decoder is created for each decoding`() async throws {
    let count = Shared(0)
    @Sendable func decoder() -> JSONDecoder {
      count.change { $0 += 1 }
      let decoder = JSONDecoder()
      decoder.keyDecodingStrategy = .convertFromSnakeCase
      return decoder
    }
    let json = Data(#"{"first_name": "Ada"}"#.utf8)
    let task = PublishedTask<Data, Never>.success(json).decode(User.self, using: decoder())

    for _ in 1...2 { #expect(try await task.value == User(firstName: "Ada")) }

    #expect(count.value == 2)
  }

  @Test func `the failure distinguishes a failed task from invalid data`() async {
    let lost = await PublishedTask<Data, Lost>.failure(Lost()).decode(User.self).result
    let wrong = await PublishedTask<Data, Lost>.success(Data("[]".utf8)).decode(User.self).result

    guard case .failure(.task(Lost())) = lost else {
      Issue.record("Expected the failure of the task: \(String(describing: lost))")
      return
    }
    guard case .failure(.decoding(.typeMismatch)) = wrong else {
      Issue.record("Expected a failure of the decoder: \(String(describing: wrong))")
      return
    }
  }

  @Test func `any error of an initializer becomes a decoding failure`() async throws {
    struct Picky: Decodable {
      init(from decoder: any Decoder) throws { throw Lost() }
    }

    let result = await PublishedTask<Data, Never>.success(json).decode(Picky.self).result

    guard case .failure(.decoding(.dataCorrupted(let context))) = result else {
      Issue.record("Expected a failure of the decoder: \(String(describing: result))")
      return
    }
    #expect(context.underlyingError as? Lost == Lost())
  }
}
