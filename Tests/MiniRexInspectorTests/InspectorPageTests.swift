import Foundation
import TestSupport
import Testing

@testable import MiniRexInspector

@Suite(.light) struct InspectorPageTests {
  private let page = String(decoding: InspectorPage.html, as: UTF8.self)

  @Test func `the page contains its style and each script once`() throws {
    let folder = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../Sources/MiniRexInspector/Page")
    let files = try FileManager.default.contentsOfDirectory(
      at: folder, includingPropertiesForKeys: nil
    ).filter { $0.lastPathComponent != "page.html" }
    #expect(files.count > 10)
    for file in files {
      let text = try String(contentsOf: file, encoding: .utf8)
      #expect(page.ranges(of: text).count == 1, "\(file.lastPathComponent)")
    }
    #expect(!page.contains("/* page.css */") && !page.contains("/* scripts */"))
  }

  @Test func `the page needs no other response`() {
    #expect(page.ranges(of: "<script").count == 1 && page.ranges(of: "<style").count == 1)
    for word in ["src=", "@import", "url(http", "import(", "href=\"http"] {
      #expect(!page.contains(word))
    }
  }
}
