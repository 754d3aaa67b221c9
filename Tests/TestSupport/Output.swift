public import Foundation
import MiniRex
public import Testing

/// The output of a program, line by line.
public struct Output {
  private struct State {
    var lines: [String] = []
    var isOver = false
  }

  private let state = Shared(State())
  /// The number of lines that were read.
  private var position = 0

  /// Creates an output, which is empty without a handle.
  public init(_ handle: FileHandle?) {
    self.init { handle.flatMap { bytes(from: $0) } }
  }

  /// Creates the output of a server.
  public init(_ client: HTTPClient) {
    self.init { client.receive().map { Data($0) } }
  }

  /// - Parameter read: Returns the next bytes, or `nil` at the end. It may block its thread.
  private init(_ read: @escaping @Sendable () -> Data?) {
    onNewThread { [state] in
      var rest = Data()
      while let data = read() {
        let parts = data.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for part in parts.dropLast() {
          let line = String(decoding: rest + part, as: UTF8.self)
          state.change { $0.lines.append(line) }
          rest = Data()
        }
        rest += parts.last ?? Data()
      }
      let last = rest.isEmpty ? [] : [String(decoding: rest, as: UTF8.self)]
      state.change { state in
        state.lines += last
        state.isOver = true
      }
    }
  }

  /// Returns the lines up to the first line that contains `text`, or all lines.
  ///
  /// Records an issue at the call if no line arrives for a while.
  @discardableResult
  public mutating func until(
    _ text: String, patience: Int = patience, sourceLocation: SourceLocation = #_sourceLocation
  ) async -> [String] {
    let start = position
    while true {
      let (state, position) = (state, position)
      await poll(patience, sourceLocation) {
        state.change { $0.isOver || $0.lines.count > position }
      } last: {
        "No line has '\(text)': \(state.value.lines[start...])"
      }
      let more = state.value.lines[position...]
      let found = more.firstIndex { $0.contains(text) }
      self.position = found.map { $0 + 1 } ?? more.endIndex
      if found != nil || more.isEmpty { return Array(state.value.lines[start..<self.position]) }
    }
  }

  /// Returns the lines until the end.
  public mutating func rest(
    patience: Int = patience, sourceLocation: SourceLocation = #_sourceLocation
  ) async -> [String] {
    await until("\n", patience: patience, sourceLocation: sourceLocation)
  }
}

/// Returns `nil` at the end, or after an error.
private func bytes(from handle: FileHandle) -> Data? {
  var data = Data(count: 1 << 16)
  while true {
    let count = unsafe data.withUnsafeMutableBytes { buffer in
      unsafe read(handle.fileDescriptor, buffer.baseAddress, buffer.count)
    }
    if count > 0 { return data.prefix(count) }
    if count == 0 || errno != EINTR { return nil }
  }
}
