import MiniRex
import MiniRexTesting
import TestSupport

extension Story {
  static let timing: [Story] = [
    Story("debounce waits for a quiet interval") {
      let letters = $0.broadcaster("ab-c------|")
      $0.expect(
        "                   ------c---|", from: letters.debounce(for: .seconds(3), clock: $0.clock))
    },
    Story("debounce emits the pending update when its source finishes") {
      let letters = $0.broadcaster("a----b|")
      $0.expect(
        "                   ---a--(b|)", from: letters.debounce(for: .seconds(3), clock: $0.clock))
    },
    Story("debounce restarts for an update at the deadline") {
      let letters = $0.broadcaster("a-b---|")
      $0.expect(
        "                   --a-b-|", from: letters.debounce(for: .seconds(2), clock: $0.clock))
    },
    Story("debounce of a value emits the first value immediately and skips an undone change") {
      let letter = $0.value("a-ba---b---|")
      $0.expect(
        "             a--------b-|", from: letter.debounce(for: .seconds(2), clock: $0.clock))
    },
    Story("debounce drops the pending update of a canceled subscription") {
      let letters = $0.broadcaster("a-----b---|")
      let calm = letters.debounce(for: .seconds(2), clock: $0.clock)
      $0.expect("                   -----------", during: "^!", from: calm)
      $0.expect("                   --------b-|", during: "-^", from: calm)
    },
    Story("throttle emits the first update immediately, then the latest of each interval") {
      let letters = $0.broadcaster("abcdef----|")
      $0.expect(
        "                   a--c--f---|", from: letters.throttle(for: .seconds(3), clock: $0.clock))
    },
    Story("throttle without latest drops the updates within an interval") {
      let letters = $0.broadcaster("abcdef----|")
      let first = letters.throttle(for: .seconds(3), latest: false, clock: $0.clock)
      $0.expect("                   a--d------|", from: first)
    },
    Story("throttle emits the pending update when its source finishes") {
      let letters = $0.broadcaster("ab|")
      $0.expect(
        "                   a-(b|)", from: letters.throttle(for: .seconds(5), clock: $0.clock))
    },
    Story("throttle of a value always emits the last change") {
      let letter = $0.value("abc----|")
      let calm = letter.throttle(for: .seconds(3), latest: false, clock: $0.clock)
      $0.expect("             a--c---|", from: calm)
    },
    Story("throttle of a value skips an undone change") {
      let letter = $0.value("aba----c|")
      $0.expect("             a------c|", from: letter.throttle(for: .seconds(3), clock: $0.clock))
    },
    Story("chunked every starts an interval with its first update, and emits the rest at the end") {
      let letters = $0.broadcaster("ab----cd-e|")
      let chunks = letters.chunked(every: .seconds(2), clock: $0.clock)
      let words = ["x": ["a", "b"], "y": ["c", "d"], "z": ["e"]] as [Character: [Character]]
      $0.expect("                   --x-----y-(z|)", words, from: chunks)
    },
    Story("chunked by and every emits a full chunk, or the chunk of a full interval") {
      let letters = $0.broadcaster("abc---de----|")
      let chunks = letters.chunked(by: 2, every: .seconds(3), clock: $0.clock)
      let words = ["x": ["a", "b"], "y": ["c"], "z": ["d", "e"]] as [Character: [Character]]
      $0.expect("                   -x---y-z----|", words, from: chunks)
    },
    Story("delay shifts each update and the end") {
      let letters = $0.broadcaster("a(bc)-d|")
      $0.expect(
        "                   --a   (bc)-(d|)", from: letters.delay(for: .seconds(2), clock: $0.clock)
      )
    },
    Story("delay of a value also delays the first value") {
      let letter = $0.value("a-b--|")
      $0.expect("             --a-b|", from: letter.delay(for: .seconds(2), clock: $0.clock))
    },
    Story("delay drops the pending updates of a canceled subscription") {
      let letters = $0.broadcaster("abc---|")
      $0.expect(
        "                   --a----", during: "^--!",
        from: letters.delay(for: .seconds(2), clock: $0.clock))
    },
    Story("delay of a task delays its result") {
      let fetch = $0.task("-a")
      $0.expect("          ---(a|)", from: fetch.delay(for: .seconds(2), clock: $0.clock))
    },
    Story("sequence every emits one element per interval") {
      let letters = Broadcaster<Character>.sequence(
        ["a", "b"], every: .seconds(2), clock: $0.clock)
      $0.expect("--a-(b|)", from: letters)
      $0.expect("---a-(b|)", during: "-^", from: letters)
    },
    Story("broadcaster every ticks at multiples of the interval for each subscriber") {
      let ticks = $0.clock.broadcaster(every: .seconds(2)).map { Int($0.components.seconds) }
      $0.expect("--2-4-6", from: ticks)
      $0.expect("---2-4-", during: "-^", from: ticks)
    },
  ]

  static let tasks: [Story] = [
    Story("a task emits its result to late subscribers") {
      let fetch = $0.task("--a")
      $0.expect("          --(a|)", from: fetch)
      $0.expect("          ----(a|)", during: "----^", from: fetch)
    },
    Story("a task may finish without a result") {
      let fetch = $0.task("--|")
      $0.expect("          --|", from: fetch)
    },
    Story("map of a task transforms a success and keeps a failure") {
      let fetch = $0.task(" --a")
      let failure = $0.task("--X")
      $0.expect("           --(b|)", from: fetch.map { _ in "b" })
      $0.expect("           --(X|)", from: failure.map { _ in "b" })
    },
    Story("mapError of a task transforms a failure") {
      let failure = $0.task("--X")
      $0.expect("            --(Y|)", from: failure.mapError { _ in Trouble(name: "Y") })
    },
    Story("flatMap continues with another task after a success") {
      let login = $0.task("-a")
      let fetch = $0.task("---b")
      $0.expect("          ---(b|)", from: login.flatMap { _ in fetch })
    },
    Story("flatMap does not continue after a failure") {
      let login = $0.task("-X")
      let fetch = $0.task("---b")
      $0.expect("          -(X|)", from: login.flatMap { _ in fetch })
    },
    Story("recover continues with another task after a failure") {
      let fetch = $0.task("-X")
      let other = $0.task("---b")
      $0.expect("          ---(b|)", from: fetch.recover { _ in other })
    },
    Story("all waits for every task") {
      let one = $0.task("-a")
      let two = $0.task("---b")
      let letters = ["x": .success(["a", "b"])] as [Character: Result<[Character], Trouble>]
      $0.expect("        ---(x|)", letters, from: all([one, two]))
    },
    Story("all fails with the first failure") {
      let one = $0.task("-----a")
      let two = $0.task("---X")
      let both: PublishedTask<[Character], Trouble> = all([one, two])
      $0.expect("        ---(X|)", from: both.map { $0.last ?? "?" })
    },
    Story("timeout fails exactly after its duration") {
      let slow = $0.task("-----a")
      let fast = $0.task("--a")
      let inTime =
        ["a": .success("a"), "X": .failure(.timedOut)]
        as [Character: Result<Character, TimeoutError<Trouble>>]
      let clock = $0.clock
      $0.expect(
        "                 ---(X|)", inTime, from: slow.timeout(after: .seconds(3), clock: clock))
      $0.expect(
        "                 --(a|)", inTime, from: fast.timeout(after: .seconds(3), clock: clock))
    },
    Story("flatMapLatest of tasks emits only the result of the last task") {
      let one = $0.task("      ---a")
      let two = $0.task("      -----b")
      let words = $0.broadcaster("x-y----|", ["x": one, "y": two])
      $0.expect(
        "                        -----b-|", results, from: words.flatMapLatest { $0 })
    },
  ]
}
