import Foundation
import MiniRexStore
import TestSupport
import Testing

@Suite(.light) struct PushIDTests {
  @Test func `identifiers of a source ascend, even within a millisecond and with a clock set back`()
  {
    let time = Shared<Int64>(1_700_000_000_000)
    let source = PushIDSource { time.value }
    var ids: [PushID] = []
    for step: Int64 in [0, 0, 0, 1, -1_000, 0, 5_000, 1] {
      time.change { $0 += step }
      ids.append(source.next())
    }

    #expect(ids == ids.sorted() && Set(ids).count == ids.count)
    #expect(ids.map(\.description) == ids.map(\.description).sorted())
    #expect(ids[0].milliseconds == 1_700_000_000_000)
    #expect(ids[7].milliseconds == 1_700_000_004_002)
  }

  @Test func `identifiers of threads and sources are unique`() {
    let sources = [PushIDSource { 7 }, PushIDSource { 7 }]
    let all = Shared<[PushID]>([])
    onThreads(4) { thread in
      let ids = (0..<scaled(5_000)).map { _ in sources[thread % 2].next() }
      #expect(ids == ids.sorted())
      all.change { $0 += ids }
    }
    #expect(Set(all.value).count == all.value.count)
  }

  @Test func `only the lower 48 bits of the clock count`() {
    for time: Int64 in [0, 5, 1 << 47, 1 << 48 - 1] {
      #expect(PushIDSource { 1 << 48 + time }.next().milliseconds == time)
    }
  }

  @Test func `the text has 20 characters and is the encoding`() throws {
    let id = PushIDSource { 1 << 47 }.next()

    #expect(id.description.utf8.count == 20)
    #expect(PushID(id.description) == id)
    #expect(PushID("") == nil && PushID(String(repeating: "+", count: 20)) == nil)
    #expect(PushID(String(repeating: "z", count: 20))?.milliseconds == 1 << 48 - 1)
    let json = try JSONEncoder().encode([id])
    #expect(String(decoding: json, as: UTF8.self) == "[\"\(id)\"]")
    #expect(try JSONDecoder().decode([PushID].self, from: json) == [id])
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode(PushID.self, from: Data("\"short\"".utf8))
    }
    #expect(PushIDSource { -5 }.next().milliseconds == 0)
  }
}
