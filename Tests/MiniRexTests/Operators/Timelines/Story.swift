import MiniRex
import MiniRexTesting
import TestSupport
import Testing

/// A timeline of one operator, with a sentence about its behavior.
struct Story: Sendable, CustomTestStringConvertible {
  let sentence: String
  let play: @Sendable (Timeline) -> Void

  init(_ sentence: String, _ play: @escaping @Sendable (Timeline) -> Void) {
    self.sentence = sentence
    self.play = play
  }

  var testDescription: String { sentence }

  static let every: [Story] =
    choosing + transforming + counting + merging + following + combining + pairing + switching
    + flattening + sharing + timing + tasks
}

@Suite(.light) struct TimelineStories {
  @Test(arguments: Story.every)
  func `every operator emits the updates of its timeline`(story: Story) {
    let timeline = Timeline()
    story.play(timeline)
    #expect(timeline.play() == nil)
  }

  @Test func `every story has a unique sentence`() {
    #expect(Set(Story.every.map(\.sentence)).count == Story.every.count)
    #expect(Story.every.count >= 100)
  }
}

/// The digits, and capital letters for the numbers from 10 on.
let digits = Dictionary(
  uniqueKeysWithValues: zip("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ", 0...))

/// The failure of a task, named by a capital letter.
struct Trouble: Error, Equatable {
  let name: Character
}

/// Maps a small letter to a success with that letter, and a capital letter to a failure.
let results = Dictionary(
  uniqueKeysWithValues: "abcdefgXYZ".map { letter in
    (letter, letter.isUppercase ? Result.failure(Trouble(name: letter)) : .success(letter))
  })

extension Timeline {
  /// An input of numbers.
  func numbers(_ line: String) -> Broadcaster<Int> { broadcaster(line, digits) }

  /// An input with a current number.
  func number(_ line: String) -> PublishedValue<Int> { value(line, digits) }

  /// An input that finishes with a letter or a failure.
  func task(_ line: String) -> PublishedTask<Character, Trouble> { task(line, results) }

  func expect<Kind: PublisherKind>(
    _ line: String, during period: String = "^", from publisher: Publisher<Int, Kind>
  ) {
    expect(line, digits, during: period, from: publisher)
  }

  func expect(
    _ line: String, during period: String = "^", from task: PublishedTask<Character, Trouble>
  ) {
    expect(line, results, during: period, from: task)
  }
}
